/**
 * Items that come and go with requests, each under a number that is used again. A Set or Map is copied whenever so many items
 * were added to it, and what was a large copy stays in old memory until the next full collection: until then it keeps every
 * request of its time alive, which was a tenth of all CPU under load. An emptied slot keeps nothing.
 */
export class Slots<Item> {
  readonly #items: (Item | null)[] = [];
  readonly #free: number[] = [];

  /** How many items there are. */
  get size(): number {
    return this.#items.length - this.#free.length;
  }

  /** Adds an item. Call what it returns to remove it; a second call does nothing. */
  add(item: Item): () => void {
    const slot = this.#free.pop() ?? this.#items.length;
    this.#items[slot] = item;
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      this.#items[slot] = null;
      this.#free.push(slot);
    };
  }

  /** The items as they are now. */
  values(): Item[] {
    return this.#items.filter((item) => item !== null);
  }
}
