/**
 * A shape while it is being made; it is read-only for everybody else. Optional fields are set one by one:
 * spreading them conditionally costs more than all the rest of making the object.
 */
export type Writable<Shape> = { -readonly [Field in keyof Shape]: Shape[Field] };
