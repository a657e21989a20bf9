/**
 * One reader of the feed: an event stream that is told no faster than it reads.
 * Owns: which entry it was told last. Invariants: at most one piece waits for a reader, however much there is to
 * tell and however slow it is; once it is ended it is told what was there, then of the end, and nothing more.
 */
import type { ServerResponse } from "node:http";
import type { EntryFeed } from "./entry-feed.ts";

/** See the file header. */
export class FeedReader {
  readonly #feed: EntryFeed;
  readonly #response: ServerResponse;
  #known: number;
  #isEnding = false;

  /** Tells all kept entries after a number, then each as it comes. The head of the response is written. */
  constructor(feed: EntryFeed, response: ServerResponse, known: number) {
    this.#feed = feed;
    this.#response = response;
    this.#known = known;
    const tell = (): void => this.#tell();
    const stop = feed.listen(tell);
    response.on("drain", tell);
    response.on("close", stop);
    response.write("retry: 1000\n\n");
    this.#tell();
  }

  /** Tells what is left, and that nothing more will come. */
  end(): void {
    this.#isEnding = true;
    this.#tell();
  }

  #tell(): void {
    const response = this.#response;
    while (!(response.destroyed || response.writableEnded || response.writableNeedDrain)) {
      const piece = this.#feed.pieceAfter(this.#known);
      if (piece !== undefined) {
        this.#known = piece.newest;
        response.write(`id: ${piece.newest}\ndata: ${piece.text}\n\n`);
      } else if (this.#isEnding) response.end("event: end\ndata: {}\n\n");
      else return;
    }
  }
}
