// What comments say about articles.
#include "data/generate/comment_phrases.h"

namespace paceline::comment_phrases {

const std::string_view greetings = R"(hello
hello {you}
hi {you}
dear {you}
{you}
hello everybody)";

const std::string_view openers = R"(well
also
{you}
for the record
as far as I can see
by the way
to be fair
just a note
on second thoughts
in short
first of all
as for the {section}
after a long look at the history
sorry for the late reply
if I read the {section} correctly)";

const std::string_view edits = R"(I moved the {section} to [[{topic} {title}]]
I took the {thing} out of the {section}
I restored the version of {day} {month}
I left out the {thing}, the {thing} and the {thing}
I put the {section} back
I shortened the {section} by half
I added a source for the {thing}
I marked the {section} as doubtful
I would rather keep the {thing} out of the {section}
I will rewrite the {section} from the book by {name}
I asked at the help desk about the {thing}
I left a note about the {thing} on the talk page of {editor}
I nominated [[{name} {thing}]] for deletion
I changed {number} to {number} in the {section}
I have replaced the photo of the {thing}
I corrected the spelling of {name} in the {section}
I split the {section} from [[{topic} {title}]]
I removed the link to the web site of {name}
the nomination was closed by {editor}
the page was protected on {day} {month}
the {section} was moved to the end
your edit to the {section} was reverted by {editor}
we kept the {thing} in the {section}
{editor} and I agreed to keep the {section} short
[[{topic} {title}]] and [[{name} {title}]] should be merged
the {thing} belongs into the {section}
please leave the {section} as it is
please do not touch the date in the {section}
please put new remarks at the bottom of the page
let us wait for an answer from {editor}
somebody should check the page numbers in the {section}
we need a second opinion on the {section}
it is better to say "{thing}" than "{thing}"
I suggest a new heading for the part about {name}
I will not change the {section} again
I have asked {editor} for a scan of page {number})";

const std::string_view facts = R"(the {section} needs a source
two of the sources are blogs
I could not find a source for the {section}
the photo in the {section} shows the wrong {thing}
the book by {name} does not mention the {thing}
the date in the {section} is wrong, it was {year}
somebody changed {number} to {number} in the {section}
the link to the {thing} page is dead
the {title} was opened in {year}, not in {year}
most of the {section} was copied from the web site of {name}
I am new here and do not know how to add a {thing}
the {section} lists {number} names but the text says {number}
my {person} has a copy of the {year} edition
the article is about the {title}, not about the {thing}
the picture of the {thing} has no licence
there is a longer version on the page of {editor}
the quote "{thing} before {thing}" is from {name}
the {section} reads like an advertisement for {name}
we had this discussion in {recent}
the newspaper of {day} {month} {year} has a report on it
it is spelled "{topic}" on the map of {year}
the map shows {topic} on the wrong side of the {thing}
[[{name} {thing}]] redirects to this page
the bot has archived the thread about the {thing}
both spellings, {topic} and {name}, are in use
the consensus in {month} was to keep the {section} short
the {year} census counts {number} houses in {topic}
this was a good article until {month} {recent}
my {person} worked at the {title} for {number} years
the {title} is in {topic} and not in {name}
nobody has edited the {section} since {recent}
the source for the {thing} is a school book from {year}
the {title} has {number} rooms and a {thing}
I live in {topic} and have never seen a {thing} there
the {section} is longer than the rest of the article
the rule about sources applies to the {section} as well
I do not speak the language, so I used a translation of {name}
the family of {name} owned the {title} until {year}
"{thing}" is a common mistake for "{thing}"
the {thing} in the {section} has its own page
there are {number} people called {name} in the {section}
the {title} burned down in {year} and was built again
my {person} says that the {thing} was never in {topic}
the template puts the {thing} on the wrong side)";

const std::string_view reasons = R"(because the source is gone
because {editor} asked for it
because nobody answered
as we agreed in {month}
until somebody finds the book
as it was before
per the manual of style
even if {editor} disagrees
after what {editor} said in {month}
for the sake of the {thing})";

const std::string_view remarks = R"(so please have a look
see the talk page of {editor}
which nobody has noticed since {recent}
as far as I can tell
and the same goes for [[{name} {thing}]]
which is why I came here
but I may be mistaken
if I remember correctly
so what do we do about the {thing}?)";

const std::string_view questions = R"(why was the {section} removed?
does anybody have a scan of the {year} edition?
is there a reason for the {thing} in the {section}?
who is {name}?
could you please add a source for the {thing}?
can an administrator move this to [[{topic} {title}]]?
what happened to the photo of the {thing}?
would it help to split the {section}?
should the {section} say {year} or {year}?
why did you revert me?
do we need {number} pictures of a {thing}?
has anybody been to {topic} lately?
where does the number {number} come from?
any news?)";

const std::string_view brief = R"(thanks
cheers
done
agreed
regards
okay
hmm
noted
sorry
fixed
support
thank you
good point
not sure
see above
fair enough
well spotted
nice work
moved back
as discussed
best wishes
thanks for that
I will look
please see above
sounds good, {you}
no source yet
source added now
I will do so
please sign your posts
the link is dead
thank you very much
I added a source
welcome to the project
ask {editor} about it
I have fixed the {thing}
it is in the {section}
have a look at {topic}
the source is from {year}
it was {year}, not {year})";

const std::string_view headings = R"(== {topic} ==
== {topic} {title} ==
== The {section} ==
== Sources for the {section} ==
== Your edit to [[{topic} {title}]] ==
== {thing} ==)";

const std::string_view signatures = R"(— {editor}
[[User:{editor}]] {clock} {day} {month} {recent} (UTC)
{editor} {clock} {day} {month} {recent} (UTC)
~~~~
— preceding unsigned comment added by {editor})";

}  // namespace paceline::comment_phrases
