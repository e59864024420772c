import { lookAtPages } from "./look-at-pages.ts";

lookAtPages("people");
