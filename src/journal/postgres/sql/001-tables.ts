/**
 * Entries, scopes, lines of waiters, owners and evidence. A released migration is never edited.
 *
 * The triggers are the store's own guard of ACT-2: whatever a program believes, an entry goes from state
 * to state along the edges of the action chart, its ending is immutable, and it is never deleted.
 * No column that changes in a running operation is indexed but for the small index of open entries.
 */
export const TABLES_001 = `
CREATE TABLE journal (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  journal_id uuid NOT NULL DEFAULT gen_random_uuid(),
  system_identifier text,
  timeline integer
);
INSERT INTO journal DEFAULT VALUES;

CREATE TABLE owners (
  owner uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  lease_until timestamptz NOT NULL,
  started_at timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 50);

CREATE TABLE entries (
  operation_id text COLLATE "C" PRIMARY KEY,
  state text COLLATE "C" NOT NULL,
  fence bigint NOT NULL,
  owner uuid NOT NULL,
  claim_id text NOT NULL,
  intent_hash text NOT NULL,
  intent text NOT NULL,
  intent_sum bytea NOT NULL,
  scopes text[] NOT NULL,
  receipt text,
  receipt_sum bytea,
  held_until timestamptz,
  is_forgotten boolean NOT NULL DEFAULT false,
  created_at_ms bigint NOT NULL,
  updated_at_ms bigint NOT NULL
) WITH (fillfactor = 70);
CREATE INDEX entries_open ON entries (operation_id) WHERE state IN ('prepared', 'dispatched', 'uncertain');

CREATE TABLE scopes (
  scope text COLLATE "C" PRIMARY KEY,
  name text NOT NULL,
  fence bigint NOT NULL DEFAULT 0,
  holder text COLLATE "C"
) WITH (fillfactor = 50);

CREATE SEQUENCE tickets;
CREATE TABLE waiters (
  scope text COLLATE "C" NOT NULL,
  ticket bigint NOT NULL,
  operation_id text COLLATE "C" NOT NULL,
  owner uuid NOT NULL,
  seen_at timestamptz NOT NULL,
  PRIMARY KEY (scope, ticket)
);
CREATE INDEX waiters_operation ON waiters (operation_id);

CREATE TABLE evidence (
  place bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  operation_id text COLLATE "C" NOT NULL,
  kind text NOT NULL,
  fence bigint NOT NULL,
  content text NOT NULL,
  content_sum bytea NOT NULL,
  at_ms bigint NOT NULL
);
CREATE INDEX evidence_operation ON evidence (operation_id, place);

CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'toolkernel: %', TG_ARGV[0] USING ERRCODE = 'TK002'; END $$;

CREATE TRIGGER entry_begins BEFORE INSERT ON entries FOR EACH ROW
WHEN (NEW.state NOT IN ('prepared', 'dispatched')) EXECUTE FUNCTION refuse('no entry begins in this state');

CREATE TRIGGER entry_steps BEFORE UPDATE ON entries FOR EACH ROW
WHEN (NEW.state <> OLD.state AND OLD.state || ' ' || NEW.state NOT IN (
  'prepared dispatched', 'prepared abandoned', 'abandoned prepared', 'abandoned dispatched',
  'dispatched committed', 'dispatched rejected', 'dispatched failed', 'dispatched uncertain',
  'uncertain committed', 'uncertain rejected', 'uncertain failed'))
EXECUTE FUNCTION refuse('no entry goes from that state to this one');

CREATE TRIGGER entry_ended BEFORE UPDATE ON entries FOR EACH ROW
WHEN (OLD.state IN ('committed', 'rejected', 'failed') AND NOT (
  NEW.is_forgotten AND NOT OLD.is_forgotten AND NEW.receipt IS NULL AND NEW.fence = OLD.fence
  AND NEW.owner = OLD.owner AND NEW.created_at_ms = OLD.created_at_ms AND NEW.updated_at_ms = OLD.updated_at_ms))
EXECUTE FUNCTION refuse('an ending is immutable');

CREATE TRIGGER entry_intent BEFORE UPDATE ON entries FOR EACH ROW
WHEN (NEW.operation_id <> OLD.operation_id OR NEW.intent_hash <> OLD.intent_hash OR NEW.fence < OLD.fence
  OR (NEW.intent <> OLD.intent AND NOT NEW.is_forgotten))
EXECUTE FUNCTION refuse('an intent is immutable');

CREATE TRIGGER entry_stays BEFORE DELETE ON entries FOR EACH ROW
EXECUTE FUNCTION refuse('an operation id stays taken');
`;
