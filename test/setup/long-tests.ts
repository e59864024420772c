/** Whether tests take their long form, as `npm run test-long` does: what they check is the same, of more cases. */
export const IS_LONG = process.env["SALDO_LONG_TESTS"] === "1";
