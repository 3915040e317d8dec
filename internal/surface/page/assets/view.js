// The page of one session works without scripts. With them its table is sorted, earlier lines load above, and it says what
// is new since the last visit.

import "./zone.js";
import "./copy.js";
import "./earlier.js";
import { offerSorting } from "./sort.js";
import { visit } from "./visits.js";

offerSorting(document);
visit();
