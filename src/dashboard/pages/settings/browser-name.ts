// The name of a browser from its User-Agent, so that a person recognizes their own.

type Named = readonly (readonly [mark: RegExp, name: string])[];

// Each browser also names those before it: the first match is the right one.
const BROWSERS: Named = [
  [/\bEdgA?\/|\bEdgiOS\//, "Edge"],
  [/\bOPR\//, "Opera"],
  [/\bSamsungBrowser\//, "Samsung Internet"],
  [/\bFirefox\/|\bFxiOS\//, "Firefox"],
  [/\bChrome\/|\bCriOS\/|\bHeadlessChrome\//, "Chrome"],
  [/\bVersion\/\S+ (?:Mobile\/\S+ )?Safari\//, "Safari"],
];
const SYSTEMS: Named = [
  [/\biPhone\b/, "iPhone"],
  [/\biPad\b/, "iPad"],
  [/\bAndroid\b/, "Android"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bWindows\b/, "Windows"],
  [/\bMac OS X\b|\bMacintosh\b/, "macOS"],
  [/\bLinux\b/, "Linux"],
];

/** The browser and its system. Null: neither is known. */
export function browserOf(userAgent: string): { readonly browser: string; readonly system: string } | null {
  const nameIn = (named: Named) => named.find(([mark]) => mark.test(userAgent))?.[1];
  const [browser, system] = [nameIn(BROWSERS), nameIn(SYSTEMS)];
  return browser === undefined || system === undefined ? null : { browser, system };
}
