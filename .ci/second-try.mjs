// Prints the files of a test run that are run once more, one a line.
import process from "node:process";
import { filesForSecondTry, readResults } from "./results.mjs";

const [path = ""] = process.argv.slice(2);
for (const name of filesForSecondTry(readResults(path))) console.log(name);
