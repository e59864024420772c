// The form in which the address readers of the networks answer.

/**
 * Reads an address of one form: the address in its normal form, or what is wrong with it, as the end of a sentence that
 * begins with the network.
 */
export type ReadAddress = (address: string) => { readonly normalized: string } | { readonly problem: string };
