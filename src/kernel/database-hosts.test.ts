import { expect, test } from "vitest";
import { addressesOf } from "./database-hosts.ts";

test.each([
  ["postgres://u:p@one/db", ["postgres://u:p@one/db"]],
  ["postgres://u@localhost/db?host=%2Frun%2Fone", ["postgres://u@localhost/db?host=%2Frun%2Fone"]],
  [
    "postgres://u:p%40ss@one:5501,two:5502/db?sslmode=verify-full",
    ["postgres://u:p%40ss@one:5501/db?sslmode=verify-full", "postgres://u:p%40ss@two:5502/db?sslmode=verify-full"],
  ],
  ["postgresql://one,[::1]:5,two/db", ["postgresql://one/db", "postgresql://[::1]:5/db", "postgresql://two/db"]],
  [
    "postgres://u@localhost/db?host=/run/one,/run/two&options=x",
    ["postgres://u@localhost/db?host=%2Frun%2Fone&options=x", "postgres://u@localhost/db?host=%2Frun%2Ftwo&options=x"],
  ],
  ["postgres://u@one/db?options=-c%20a%3D1,2", ["postgres://u@one/db?options=-c%20a%3D1,2"]],
])("%s has an address for each of its hosts", (url, addresses) => {
  expect(addressesOf(url)).toEqual(addresses);
});
