// The result of the networks' address readers.

/**
 * Reads an address of one form: returns its normal form, or its problem, as the end of a sentence that begins with the
 * network.
 */
export type ReadAddress = (address: string) => { readonly normalized: string } | { readonly problem: string };
