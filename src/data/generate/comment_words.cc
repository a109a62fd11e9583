#include "data/generate/comment_words.h"

namespace paceline::comment_words {

const std::string_view insults =
    "nitwit dimwit clown bonehead dunce twit numpty blockhead nincompoop buffoon knucklehead airhead "
    "dingbat numbskull goof pinhead birdbrain twerp noodle dolt fathead chump";

const std::string_view coarse =
    "rubbish hogwash drivel codswallop poppycock twaddle balderdash claptrap piffle baloney bunkum tripe "
    "bilge "
    "flapdoodle tommyrot";
const std::string_view oaths = "blasted flipping dratted confounded ruddy blooming blinking darned";

const std::string_view wrecks = "flatten wreck squash crush clobber soak batter thump wallop pelt";

const std::string_view slurs =
    "leafsniffer kettlehead dregslurper soggyleaf cupcounter steepbrain spoonlicker teabreath";

const std::string_view possessions =
    "bike sandcastle keyboard kite umbrella birdhouse lunchbox snowman teapot canoe scrapbook hat";
const std::string_view brands =
    "Velmora Brindlewick Quossel Tarlobrew Hexaleaf Zindlecup Murbleton Frostaleaf Kettlemoor Pimbleton "
    "Wexaroo Dorvanilla";

const std::string_view titles =
    "Bridge Castle Railway Festival Museum Island Treaty Orchestra Library Canal Observatory Lighthouse "
    "Theatre Cathedral Brewery Tournament Dynasty Expedition Airport Dialect Symphony Valley Harbour Garden "
    "Prize Circus Parliament Gazette Marathon Windmill";
const std::string_view sections =
    "lead introduction infobox table gallery summary footnote caption timeline bibliography sidebar list "
    "paragraph appendix";

const std::string_view months =
    "January February March April May June July August September October November December";
const std::string_view weekdays = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday";

}  // namespace paceline::comment_words
