/**
 * Entries, scopes, lines of waiters and evidence. A released migration is never edited.
 *
 * The triggers are the store's own guard of ACT-2: whatever a program believes, an entry goes from state
 * to state along the edges of the action chart, its ending is immutable, and it is never deleted.
 */
export const JOURNAL_001 = `
CREATE TABLE toolkernel_journal (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  journal_id TEXT NOT NULL,
  commits INTEGER NOT NULL
) STRICT;
INSERT INTO toolkernel_journal VALUES (1, lower(hex(randomblob(16))), 0);

CREATE TABLE toolkernel_entries (
  operation_id TEXT NOT NULL PRIMARY KEY,
  state TEXT NOT NULL,
  fence INTEGER NOT NULL,
  owner TEXT NOT NULL,
  claim_id TEXT NOT NULL,
  intent_hash TEXT NOT NULL,
  intent TEXT NOT NULL,
  scopes TEXT NOT NULL,
  receipt TEXT,
  held_until_ms INTEGER,
  is_forgotten INTEGER NOT NULL,
  created_at_ms INTEGER NOT NULL,
  updated_at_ms INTEGER NOT NULL,
  checksum INTEGER NOT NULL
) STRICT;
CREATE INDEX toolkernel_entries_open ON toolkernel_entries (operation_id)
  WHERE state IN ('prepared', 'dispatched', 'uncertain');

CREATE TRIGGER toolkernel_entry_begins BEFORE INSERT ON toolkernel_entries
WHEN NEW.state NOT IN ('prepared', 'dispatched')
BEGIN SELECT RAISE(ABORT, 'toolkernel: no entry begins in this state'); END;

CREATE TRIGGER toolkernel_entry_steps BEFORE UPDATE ON toolkernel_entries
WHEN NEW.state <> OLD.state AND OLD.state || ' ' || NEW.state NOT IN (
  'prepared dispatched', 'prepared abandoned', 'abandoned prepared', 'abandoned dispatched',
  'dispatched committed', 'dispatched rejected', 'dispatched failed', 'dispatched uncertain',
  'uncertain committed', 'uncertain rejected', 'uncertain failed')
BEGIN SELECT RAISE(ABORT, 'toolkernel: no entry goes from that state to this one'); END;

CREATE TRIGGER toolkernel_entry_ended BEFORE UPDATE ON toolkernel_entries
WHEN OLD.state IN ('committed', 'rejected', 'failed') AND NOT (
  NEW.is_forgotten = 1 AND OLD.is_forgotten = 0 AND NEW.receipt IS NULL AND NEW.fence = OLD.fence
  AND NEW.owner = OLD.owner AND NEW.created_at_ms = OLD.created_at_ms AND NEW.updated_at_ms = OLD.updated_at_ms)
BEGIN SELECT RAISE(ABORT, 'toolkernel: an ending is immutable'); END;

CREATE TRIGGER toolkernel_entry_intent BEFORE UPDATE ON toolkernel_entries
WHEN NEW.operation_id <> OLD.operation_id OR NEW.intent_hash <> OLD.intent_hash OR NEW.fence < OLD.fence
  OR (NEW.intent <> OLD.intent AND NEW.is_forgotten = 0)
BEGIN SELECT RAISE(ABORT, 'toolkernel: an intent is immutable'); END;

CREATE TRIGGER toolkernel_entry_stays BEFORE DELETE ON toolkernel_entries
BEGIN SELECT RAISE(ABORT, 'toolkernel: an operation id stays taken'); END;

CREATE TABLE toolkernel_scopes (
  scope TEXT NOT NULL PRIMARY KEY,
  name TEXT NOT NULL,
  fence INTEGER NOT NULL,
  holder TEXT,
  checksum INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE toolkernel_waiters (
  scope TEXT NOT NULL,
  ticket INTEGER NOT NULL,
  operation_id TEXT NOT NULL,
  owner TEXT NOT NULL,
  seen_at_ms INTEGER NOT NULL,
  PRIMARY KEY (scope, ticket)
) STRICT, WITHOUT ROWID;
CREATE INDEX toolkernel_waiters_operation ON toolkernel_waiters (operation_id);

CREATE TABLE toolkernel_evidence (
  place INTEGER PRIMARY KEY,
  operation_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  fence INTEGER NOT NULL,
  content TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  checksum INTEGER NOT NULL
) STRICT;
CREATE INDEX toolkernel_evidence_operation ON toolkernel_evidence (operation_id, place);
`;
