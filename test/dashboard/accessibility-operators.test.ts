import { lookAtPages } from "./look-at-pages.ts";

lookAtPages("operators");
