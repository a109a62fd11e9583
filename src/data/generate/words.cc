#include "data/generate/words.h"

namespace paceline::words {

const std::string_view good =
    "good great excellent wonderful perfect nice fantastic lovely solid amazing superb reliable brilliant "
    "impressive sturdy comfortable handy useful pleasant outstanding beautiful delightful fine terrific "
    "elegant "
    "smooth flawless charming splendid remarkable satisfying dependable clever superior marvelous sound "
    "gorgeous refreshing thoughtful exceptional tidy durable magnificent admirable commendable graceful "
    "enjoyable stunning polished trustworthy intuitive robust exquisite faultless worthwhile sublime "
    "praiseworthy stellar precise crisp convincing ingenious agreeable";

const std::string_view bad =
    "bad terrible poor awful horrible useless disappointing flimsy cheap faulty lousy dreadful annoying "
    "broken "
    "ugly mediocre unreliable shoddy uncomfortable weak defective clumsy frustrating worthless inferior "
    "sloppy "
    "unpleasant pathetic miserable awkward fragile tacky crude nasty unusable messy dull atrocious abysmal "
    "appalling hideous wretched deficient unsafe wobbly leaky brittle inadequate substandard irritating "
    "overpriced wasteful dismal botched ghastly careless flawed tiresome grim bland unfit impractical "
    "regrettable";

const std::string_view welcome =
    "keep recommend reorder treasure praise endorse cherish admire applaud celebrate";
const std::string_view rejected = "return regret avoid trash ditch dump discard reject bin condemn";

const std::string_view things =
    "house kitchen table room door window car garden office desk shelf wall floor bag pocket drawer corner "
    "cable button cover strap hook handle lid tray box cup plate spoon bottle glass water coffee tea bread "
    "milk morning evening week month summer winter holiday weekend school street shop market station train "
    "bus bike road bridge river lake beach forest hill tree leaf flower grass stone sand rain snow wind "
    "sun cloud moon star paper pen book page map letter card photo picture frame mirror lamp light candle "
    "clock watch phone radio screen camera lens battery charger plug socket switch wire tube pipe pump "
    "tank tap sink towel soap brush comb razor sponge bucket mop broom basket crate barrel rope chain "
    "wheel tire pedal seat belt helmet glove boot shoe sock shirt coat jacket scarf hat dress skirt zipper "
    "needle thread cloth wool cotton linen silk leather rubber plastic metal steel iron copper brass "
    "silver gold wood oak pine bamboo cork clay brick tile marble chalk paint ink glue tape string ribbon "
    "knot nail screw bolt nut hammer saw drill wrench ladder bench stool chair sofa bed pillow blanket "
    "sheet mattress curtain carpet rug cabinet closet hanger rack hutch attic cellar garage porch balcony "
    "roof chimney fence gate path yard pond barn stable field farm orchard apple pear plum cherry lemon "
    "orange melon grape berry seed bean pea corn rice wheat flour sugar salt pepper honey butter cheese "
    "egg soup stew pie cake cookie pan pot kettle oven stove grill toaster blender mixer fridge freezer "
    "knife fork bowl jar can tin dish napkin apron recipe menu cousin guest child baby puppy kitten horse "
    "rabbit bird fish duck goose sheep goat cow bee ant spider violin guitar piano drum flute trumpet song "
    "record concert stage ticket film game puzzle toy doll kite ball racket net goal score team coach "
    "player track race medal prize flag banner tent lantern compass anchor sail boat ferry canoe paddle "
    "oar dock harbor island cabin trail summit valley meadow canyon desert engine gear lever spring valve "
    "filter hose nozzle gauge dial meter sensor motor fan vent heater cooler ladle whisk grater peeler "
    "sieve funnel scale timer thermos flask mug saucer tripod adapter keyboard mouse printer scanner "
    "tablet laptop speaker headset folder binder stapler eraser ruler notebook calendar envelope stamp "
    "parcel wallet purse key lock ring bracelet necklace badge";

const std::string_view products =
    "kettle lamp camera headset keyboard backpack blender toaster drill watch tent jacket speaker printer "
    "vacuum "
    "mattress pillow stroller bike helmet guitar novel album game puzzle charger router tablet monitor phone "
    "razor dryer mixer grill knife pan thermos lantern compass scale heater fan humidifier clock radio "
    "projector "
    "microphone tripod telescope wallet suitcase umbrella scarf sandal boot cushion blanket rug shelf desk "
    "chair "
    "sofa mower";

const std::string_view aspects =
    "screen battery handle design sound finish fit size color weight texture lens cable strap zipper button "
    "hinge "
    "motor filter lid grip surface fabric seam display menu software keypad speaker cord plug base stand "
    "blade "
    "switch dial coating frame padding lining pocket latch trigger wheel brake pedal spout nozzle sensor "
    "remote "
    "antenna magnet clasp sole heel plot ending rhythm chorus drawing illustration translation";

const std::string_view wrappings =
    "box delivery packaging manual courier wrapping parcel invoice label sticker shipping envelope receipt "
    "carton "
    "website checkout";

const std::string_view people =
    "brother sister neighbor wife husband mother father friend colleague boss cousin uncle aunt daughter son "
    "roommate teacher dentist plumber landlord barber grandmother";

const std::string_view degrees = "very really quite so truly rather particularly especially";

const std::string_view syllables =
    "ve lo ra ti mo ka ne su ri da zo pel tar vin gor lux nor bex dra fen hal jun kor lim mar nex ost pri "
    "qua ros "
    "sel tro ulm vor wex yar zen bri cal dor el fla gri hex ion jas kel";

}  // namespace paceline::words
