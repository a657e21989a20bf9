/** A shop's stock, as a slow database would keep it: taking reads, waits and writes. */
export interface Stock {
  count(item: string): Promise<number>;
  take(item: string): Promise<number>;
}

/** A stock in memory. Two takes of one item at the same time lose one of them, as they would in a database. */
export function createStock(items: Readonly<Record<string, number>>): Stock {
  const left = new Map(Object.entries(items));
  const count = async (item: string) => left.get(item) ?? 0;
  const take = async (item: string) => {
    const rest = (await count(item)) - 1;
    await Promise.resolve();
    left.set(item, rest);
    return rest;
  };
  return { count, take };
}
