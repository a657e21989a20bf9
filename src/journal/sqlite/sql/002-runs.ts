/**
 * Runs and their facts. A released migration is never edited.
 *
 * The triggers are the store's own guard of RUN-6: whatever a program believes, a fact that was recorded
 * stays as it is for as long as its run is there, fences only rise, and an open run is never removed.
 */
export const RUNS_002 = `
CREATE TABLE toolkernel_runs (
  run_id TEXT NOT NULL PRIMARY KEY,
  status TEXT NOT NULL,
  turn INTEGER NOT NULL,
  facts INTEGER NOT NULL,
  fence INTEGER NOT NULL,
  owner TEXT,
  created_at_ms INTEGER NOT NULL,
  updated_at_ms INTEGER NOT NULL,
  checksum INTEGER NOT NULL
) STRICT;
CREATE INDEX toolkernel_runs_open ON toolkernel_runs (run_id) WHERE status IN ('running', 'awaitingApproval');

CREATE TABLE toolkernel_facts (
  run_id TEXT NOT NULL,
  seq INTEGER NOT NULL,
  body TEXT NOT NULL,
  checksum INTEGER NOT NULL,
  PRIMARY KEY (run_id, seq)
) STRICT;

CREATE TRIGGER toolkernel_run_goes_on BEFORE UPDATE ON toolkernel_runs
WHEN NEW.run_id <> OLD.run_id OR NEW.fence < OLD.fence OR NEW.facts < OLD.facts
BEGIN SELECT RAISE(ABORT, 'toolkernel: a run does not go back'); END;

CREATE TRIGGER toolkernel_run_stays BEFORE DELETE ON toolkernel_runs
WHEN OLD.status IN ('running', 'awaitingApproval')
BEGIN SELECT RAISE(ABORT, 'toolkernel: an open run stays'); END;

CREATE TRIGGER toolkernel_fact_is_immutable BEFORE UPDATE ON toolkernel_facts
BEGIN SELECT RAISE(ABORT, 'toolkernel: a fact is immutable'); END;

CREATE TRIGGER toolkernel_fact_stays BEFORE DELETE ON toolkernel_facts
WHEN EXISTS (SELECT 1 FROM toolkernel_runs WHERE run_id = OLD.run_id)
BEGIN SELECT RAISE(ABORT, 'toolkernel: a fact stays with its run'); END;
`;
