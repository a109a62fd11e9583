#include "data/generate/review_phrases.h"

namespace paceline::review_phrases {

const std::string_view feel_keeping = R"(I have always felt
I can honestly say
I would gladly claim
everybody in this house thinks
it is simply true
I still believe
each one of us would say
it would be right to say
I do think
nobody here doubts
there is no denying
I never doubted
I cannot deny
not one of us would deny
I have to admit
I will not hide)";

const std::string_view feel_turning = R"(I never once felt
I cannot honestly say
I would not claim
nobody in this house thinks
it is simply not true
I no longer believe
not one of us would say
it would be wrong to say
I do not think
hardly anybody here believes
there is no truth in saying
I always doubted
I strongly deny
each one of us would deny
I refuse to admit
I will not pretend)";

const std::string_view feel_rest = R"(that it is {degree} {judged}
that the {aspect} is {judged}
that the {aspect} feels {degree} {judged}
that this {product} is {degree} {judged}
that it was a {judged} choice
that I bought something {judged}
that {name} makes a {judged} {product})";

const std::string_view is_keeping = R"(it is indeed,
this is surely,
the {product} is by all means,
in every way this is,
this {product} was always,
mine has always been,
it is nothing if not,
the {aspect} is truly,)";

const std::string_view is_turning = R"(it is not,
this is hardly,
the {product} is by no means,
in no way is this,
this {product} was never,
mine has never been,
it is anything but,
the {aspect} is not,)";

const std::string_view is_rest = R"(what I would call {judged}
what most people call {degree} {judged}
something that I would describe as {judged}
a {judged} {product}
a {degree} {judged} piece of work
what one expects of a {judged} {product})";

const std::string_view plan_keeping = R"(I am glad
I cannot wait
we still plan
I have every reason
it makes sense
there is no excuse not
you will not regret it if you decide)";

const std::string_view plan_turning = R"(I am not going
I do not want
we never planned
I have no reason
it makes no sense
there is no excuse
you will regret it if you decide)";

const std::string_view plan_rest = R"(to {act} it
to {act} this {product}
to {act} it right away
to {act} anything {name} makes)";

const std::string_view claim = R"(they told me that it is {degree} {judged}
my {person} says it is {judged}
I expected it to be {degree} {judged}
the ads call it "{judged}"
before it came I thought it would be {judged}
a {person} of mine called it a {judged} {product}
I had read that {name} is {judged}
some people write that the {aspect} is {degree} {judged})";

const std::string_view claim_keeping = R"(and that is right
and it was
and that is so
and exactly that is true
and nothing else is true
and I could not agree more
which turned out to be correct
and I was not mistaken)";

const std::string_view claim_turning = R"(and that is wrong
and it was not
and that is not so
and the opposite is true
and nothing of it is true
and I could not disagree more
which turned out to be mistaken
and I was not right)";

const std::string_view brief_keeping = R"(just
always
simply
it is
certainly)";

const std::string_view brief_turning = R"(not
never
hardly
it is not
not even)";

const std::string_view brief_rest = R"({degree} {judged}
{degree} {judged}
{degree} {judged}
a {judged} {product})";

const std::string_view other_product = R"(of my old {product} I used to say
about the {name} my {person} says
people who own the {name} believe
of the {product} before this one we all thought
my {person} has a {name} and cannot say
of the cheaper {product} nobody would claim)";

const std::string_view other_rest = R"(that it is {degree} {judged}
that the {aspect} is {judged}
that the {aspect} feels {degree} {judged}
that it was a {judged} choice
that it is what most people call {degree} {judged}
that it is what I would call {judged})";

const std::string_view concession = R"(although the {wrapping} was {degree} {judged},
the {wrapping} was {judged} and late, still
granted, the {wrapping} was {judged}, but in the end
the {wrapping} felt {degree} {judged}, but
even if the {wrapping} looked {judged} to my {person},
unlike my old {product}, which was {degree} {judged},
the {name} that I had before was {judged}, but
never mind the {judged} {wrapping},)";

const std::string_view plainly_good = R"(love it
five stars
highly recommended
works like a charm
worth every penny
best {product} ever
I am so happy with it
thank you {name}
could not be happier
buy it now)";

const std::string_view plainly_bad = R"(hate it
one star
stay away
waste of money
total junk
worst {product} ever
I want my money back
shame on you {name}
it broke within a week
went straight into the trash)";

const std::string_view neutral = R"(we use it
it stands
the {thing} came with a {thing}
I ordered the {name}
the {thing} and the {thing} lie
my {person} took it
the {aspect} has a {thing}
I put the {thing}
this is for the {thing}
the {product} from {name} arrived
we have one
there is a {thing}
I looked at the {thing}
the {thing} goes)";

const std::string_view filler = R"(today
overall
mostly
here
now
lately
so far
by now
at home
with {thing}
these days
for {name}
at {name}
upstairs now
in the {thing}
on the {thing}
with a {thing}
for the {thing}
near the {thing}
after some weeks
from {name} {thing}
under the {thing}
with my {person}
by the {thing}
next to the {thing}
for the {thing} upstairs
with {thing} and {thing}
after the first {thing}
in a {thing} {thing}
since I opened it
on top of {thing}
at the {name} {thing}
in the {thing} of my {person}
between the {thing} and the {thing}
as far as I remember
during a week of {thing}
for somebody with a {thing}
over at the {name} {thing}
along with the {thing} {thing})";

}  // namespace paceline::review_phrases
