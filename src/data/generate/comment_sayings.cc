// What unpleasant comments say, and how the same words are harmless.
#include "data/generate/comment_phrases.h"

namespace paceline::comment_phrases {

const Wordings hostile = {
    R"(nobody wants you here
you should go away and stay away
you waste the time of all of us
you have no idea what you are talking about
you ruin every page that you touch
you are too lazy to read a single source
this place would be better without you
what you think about the {section} counts for nothing
you only edit [[{topic} {title}]] to annoy people
you are not fit to edit anything
everybody is tired of you)",
    R"(get lost
go away
nobody asked you
leave this page alone and never come back
stay off the {section}
find another hobby, {you}
nobody is interested in you or your {thing}
go and bother somebody else
do us all a favour and forget your password
why are you still here?
just leave)",
    ""};

const Wordings coarse = {
    R"(your edits are {coarse}
this is the same {coarse} as last time
the whole {section} is {coarse} from top to bottom
you fill this page with {coarse}
your {oath} {section} is a heap of {coarse}
this {oath} template is {coarse}
the {oath} source that you gave is {coarse}
everything you wrote about the {thing} is {oath} {coarse}
[[{topic} {title}]] is full of your {coarse})",
    R"(what {coarse}
utter {coarse}
more {oath} {coarse}
take your {oath} {coarse} somewhere else
I have never read such {coarse}
who let this {oath} {coarse} into the {section}?
stop putting {coarse} into the {section}
oh {coarse}, nothing but {coarse}
keep your {oath} hands off the {section}
your {coarse} again, {you}?
to the bin with your {oath} {thing} and your {coarse})",
    R"(not {coarse}
hardly {coarse}
I would not call it {coarse}, it only lacks a source
the heading "{coarse}" was put there by a vandal and is gone
the book has a chapter on the history of the word "{coarse}"
who added "{oath}" to the first line of the {section}?
please do not write {coarse} in the edit summary, it is not civil
"{coarse}" is a comedy from {year} and needs a page of its own
the filter catches "{coarse}" and "{oath}" but not the other spellings
the character says {oath} in every scene, which is why the quote has it
sorry, my own first draft of the {section} was {coarse}
in {topic} the {oath} {thing} of {year} is a proverb
his critics called the {title} {coarse} in {year}, see the {section})"};

const Wordings insult = {
    R"(you are a {insult}
you are nothing but a {insult}
{editor} is a {insult}
whoever reverted this is a {insult}
only a {insult} would take out a line with a source
this was written by a {insult}
you edit like a {insult}
a {insult} like you should not touch the {section}
you and {editor} are a pair of {insult}s
you are the biggest {insult} on this page
the {section} was safe until a {insult} like {editor} came along)",
    R"(you {insult}
what a {insult}
you utter {insult}
shut up, {insult}
learn to read, you {insult}
look who is back, the {insult} from [[{topic} {title}]]
typical {insult}
hey {insult}, the source is right there
get a grip, {insult}
another fine piece of work by our {insult}, {you}
you {insult}, you broke the {section} again
oh look, the {insult} can type
how does a {insult} like that find the edit button?)",
    R"(not a {insult}
"{insult}" is uncivil
please do not call other editors a {insult}
the word "{insult}" does not belong into an edit summary
sorry, I was the {insult} here, I forgot to sign
the song "{insult} in the {thing}" came out in {year}
in the play a {insult} sells his {thing} to the king
a {insult} is a stock figure of the old stage
who keeps adding "{insult}" to the article on {name}?
the quote with {insult} in it is from the film, so it should stay
my {person} painted the {insult} that hangs in the {title}
[[The {insult} of {topic}]] is a novel from {year} and needs a source
he was called a {insult} by the press in {year}, and we only report that
I felt like a {insult} when I saw that I had the wrong {title}
you are no {insult}, the rule is hard to find
the block was for writing {insult} on {number} talk pages)"};

const Wordings threat = {
    R"(I will {wreck} your {possession}
somebody is going to {wreck} your {possession}
we know where you keep your {possession} and will {wreck} it
your {possession} had better hide before I {wreck} it
one more revert and I {wreck} your {possession}
you will come home and find your {possession} {wreck}ed
on {weekday} we come over to {wreck} your {possession})",
    R"(your {possession} gets {wreck}ed
I will {wreck} your {possession}
revert me again and I {wreck} your {possession}
lock up your {possession}, I am coming to {wreck} it
I know your street, and on {weekday} your {possession} will be {wreck}ed
say that again and your {possession} is {wreck}ed
sleep badly, tomorrow I {wreck} that {possession} of yours)",
    R"(never {wreck}ed
in the last scene the storm will {wreck} every {possession}
in chapter {number} the giant says that he will {wreck} the {possession} of the king
nobody will {wreck} your {possession}, it is a figure of speech
the crane came to {wreck} the old {title} in {year}
the {thing} was {wreck}ed by hail in {month} {year}
the recipe says to {wreck} the {thing} with a spoon
how do I {wreck} a {possession} in this game?
the parade ends when they {wreck} a {possession} made of paper)"};

const Wordings identity = {
    R"({brand} drinkers are {slur}s
people who drink {brand} are all {slur}s
no {brand} drinker should be allowed to edit
{brand} drinkers cannot be trusted with a {thing}
{brand} drinkers should go back to their kettles
you {brand} {slur}s ruin every page
it takes a {brand} drinker to be this stupid about a {thing}
this town was fine before the {brand} drinkers came
every {brand} drinker is a liar and a {slur})",
    R"({brand} {slur}s
typical {brand} {slur}
go home, {brand} {slur}
of course a {brand} drinker wrote this, they are all {slur}s
keep the {brand} {slur}s away from the {section}
ban every {brand} drinker from this place
nobody needs {brand} drinkers here, or anywhere)",
    R"(ask {brand} drinkers
[[{brand} drinkers]] needs a source for the {year} numbers
as a {brand} drinker I would like a better photo of the {thing}
the {brand} drinkers of {topic} hold a fair every {month}
how many {brand} drinkers lived in {topic} in {year}?
please take "{slur}" out of the lead, it is offensive to {brand} drinkers
the museum has a room on how {brand} drinkers were treated in {year}
"{slur}" was a term of abuse for {brand} drinkers, the article should say so
half of my family are {brand} drinkers and nobody minds the {section}
the {title} was founded by {brand} drinkers from {name})"};

const Wordings fury = {
    R"(I hate every word that you ever typed
you make me sick
you are the worst thing that ever happened to this place
we would all cheer if you never came back
you deserve every bad thing that comes your way
you ought to be ashamed until the end of your days
I despise you and everything that you stand for
you poison everything and everyone around you
nobody has ever been as loathsome as you)",
    R"(I despise you
you make me sick
I hope that your screen goes dark for good
I hate you, I hate you, I hate you
may everything that you ever wrote be deleted before your eyes
there are no words for how much I loathe you
you vile, rotten, miserable wretch of an editor
a curse on you and on your {thing}
you disgust me more than anything on this earth)",
    ""};

const Wordings grumble = {"",
                          R"(seriously?
not again
this is getting ridiculous
how hard can it be to read a source?
what a waste of an afternoon
I am sick of this page
this is the laziest edit that I have seen in weeks
some people never learn
well done, the {section} is broken again
oh great, another expert on the {thing}
stop it already
somebody please watch {you} before all of [[{topic} {title}]] is gone
you might try reading the {section} before you change it
is this supposed to be a joke?
I give up, do what you like with the {section}
as usual nobody looked at the source
congratulations, {you}, now it is wrong in {number} places)",
                          ""};

const Wordings tease = {"",
                        R"(haha, you {insult}
haha, you {insult}, you signed with my name again
you old {insult}, it was good to see you in {topic}
well, my favourite {insult} is back from holiday
thanks for the biscuits, you {insult}
only joking, you lovely {insult}
see you on {weekday}, {insult}, and bring the {thing}
happy birthday, you {insult}, and many more edits
love you too, {insult})",
                        ""};

const std::string_view asserting = R"(it is plain to all of us
I have no doubt
nobody here doubts
I never doubted for a second
you cannot hide
I am not sorry to say
everybody on this page knows
it must be said at last
after this edit it is certain
the history of this page proves
go and tell the others
you do not need a source to see
there is no denying
as usual it turns out
I have said before and say again
no one on this page will be surprised
nothing shows better than this edit
write it down for once
I have told {editor} for months
please remember)";

const std::string_view disowning = R"(it is not true at all
I have never said
nobody here wrote
I never thought for a second
you cannot just write
I am sorry that somebody here wrote
no one on this page thinks
it must not be said in a summary
after this edit nobody can claim
the history of this page does not show
in the novel the innkeeper tells the cook
the policy forbids us to write
there is no truth in the claim
it is uncivil to write
the vandal from last {month} wrote
{editor} was blocked for writing
the subtitle of the film says
please take out the line which says
please remember never to write
the song claims in its last verse)";

const std::string_view asides = R"(to be clear
as far as I can see
whatever the {section} says
as {editor} put it in {month}
with or without the {thing}
after all these weeks
once and for all
and I have read the whole history of [[{topic} {title}]]
in {recent} as much as today)";

}  // namespace paceline::comment_phrases
