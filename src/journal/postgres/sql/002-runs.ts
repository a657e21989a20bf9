/**
 * Runs and their facts, and what is done to them in one statement. A released migration is never edited.
 *
 * The triggers are the store's own guard of RUN-6: whatever a program believes, a fact that was recorded
 * stays as it is for as long as its run is there, fences only rise, and an open run is never removed.
 * Order of locks: a process's own owner, then runs by their ids. All times are the database's.
 */
export const RUNS_002 = `
CREATE TABLE runs (
  run_id text COLLATE "C" PRIMARY KEY,
  status text COLLATE "C" NOT NULL,
  turn integer NOT NULL,
  facts bigint NOT NULL,
  fence bigint NOT NULL,
  owner uuid,
  created_at_ms bigint NOT NULL,
  updated_at_ms bigint NOT NULL
) WITH (fillfactor = 50);
CREATE INDEX runs_open ON runs (run_id) WHERE status IN ('running', 'awaitingApproval');

CREATE TABLE facts (
  run_id text COLLATE "C" NOT NULL,
  seq bigint NOT NULL,
  body text NOT NULL,
  body_sum bytea NOT NULL,
  PRIMARY KEY (run_id, seq)
);

CREATE FUNCTION keep_fact() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM runs r WHERE r.run_id = OLD.run_id) THEN
    RAISE EXCEPTION 'toolkernel: a fact stays with its run' USING ERRCODE = 'TK002';
  END IF;
  RETURN OLD;
END $$;

CREATE TRIGGER fact_is_immutable BEFORE UPDATE ON facts FOR EACH ROW EXECUTE FUNCTION refuse('a fact is immutable');

CREATE TRIGGER fact_stays BEFORE DELETE ON facts FOR EACH ROW EXECUTE FUNCTION keep_fact();

CREATE TRIGGER run_goes_on BEFORE UPDATE ON runs FOR EACH ROW
WHEN (NEW.run_id <> OLD.run_id OR NEW.fence < OLD.fence OR NEW.facts < OLD.facts)
EXECUTE FUNCTION refuse('a run does not go back');

CREATE TRIGGER run_stays BEFORE DELETE ON runs FOR EACH ROW
WHEN (OLD.status IN ('running', 'awaitingApproval')) EXECUTE FUNCTION refuse('an open run stays');

-- Takes a run that nobody alive has; one that this owner has is taken anew.
CREATE FUNCTION take_run(p_owner uuid, p_lease_ms integer, p_run text, p_create boolean,
  OUT kind text, OUT run_fence bigint, OUT run_facts bigint, OUT remaining_ms integer)
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  r runs;
BEGIN
  PERFORM make_durable();
  remaining_ms := keep_lease(p_owner, p_lease_ms, p_lease_ms / 2);
  LOOP
    IF p_create THEN
      INSERT INTO runs (run_id, status, turn, facts, fence, created_at_ms, updated_at_ms)
      VALUES (p_run, 'running', 0, 0, 0, now_ms(), now_ms()) ON CONFLICT (run_id) DO NOTHING;
    END IF;
    SELECT * INTO r FROM runs WHERE run_id = p_run FOR UPDATE;
    -- It may have been pruned between the two.
    EXIT WHEN FOUND OR NOT p_create;
  END LOOP;
  kind := CASE
    WHEN r.run_id IS NULL THEN 'absent'
    WHEN r.owner <> p_owner AND is_alive(r.owner) THEN 'claimed'
    ELSE 'taken' END;
  IF kind <> 'taken' THEN RETURN; END IF;
  UPDATE runs SET owner = p_owner, fence = r.fence + 1 WHERE run_id = p_run RETURNING fence, facts INTO run_fence, run_facts;
END $$;

-- Records facts of several runs in one transaction; the facts of each are a part of one array. A run counts
-- as the owner's also under a name whose lease ran out, as long as nobody has taken it since. Where more
-- facts stand than the owner knows of, an answer was lost on its way: what is there already is not
-- recorded again.
CREATE FUNCTION append_facts(p_owner uuid, p_lease_ms integer, r_run text[], r_fence bigint[], r_owner uuid[], r_behind bigint[],
  r_status text[], r_turn integer[], r_first integer[], r_last integer[], f_body text[])
RETURNS TABLE (place integer, kind text, run_facts bigint, remaining_ms integer)
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  r runs;
  bodies text[];
  at_ms bigint := now_ms();
BEGIN
  PERFORM make_durable();
  remaining_ms := keep_lease(p_owner, p_lease_ms, p_lease_ms / 2);
  PERFORM 1 FROM runs l WHERE l.run_id = ANY (r_run) ORDER BY l.run_id FOR UPDATE;
  FOR place IN SELECT n FROM generate_subscripts(r_run, 1) AS n ORDER BY n LOOP
    SELECT * INTO r FROM runs t WHERE t.run_id = r_run[place];
    run_facts := r.facts;
    kind := CASE
      WHEN r.run_id IS NULL OR r.fence <> r_fence[place] OR r.owner IS NULL OR r.owner NOT IN (r_owner[place], p_owner) THEN 'lost'
      WHEN r.facts < r_behind[place] THEN 'corrupt'
      ELSE 'saved' END;
    IF kind = 'saved' THEN
      bodies := coalesce(f_body[r_first[place]:r_last[place]], '{}');
      IF r.facts > r_behind[place] AND bodies = ARRAY(
        SELECT f.body FROM facts f WHERE f.run_id = r.run_id AND f.seq > r_behind[place] ORDER BY f.seq) THEN
        bodies := '{}';
      END IF;
      INSERT INTO facts (run_id, seq, body, body_sum)
      SELECT r.run_id, r.facts + b.n, b.body, sum_of(r.run_id, (r.facts + b.n)::text, b.body)
      FROM unnest(bodies) WITH ORDINALITY AS b (body, n);
      run_facts := r.facts + cardinality(bodies);
      UPDATE runs t SET facts = append_facts.run_facts, status = coalesce(r_status[place], t.status),
        turn = coalesce(r_turn[place], t.turn), owner = p_owner, updated_at_ms = at_ms WHERE t.run_id = r.run_id;
    END IF;
    RETURN NEXT;
  END LOOP;
END $$;

-- Removes some runs that ended before a time and that nobody alive has; answers how many.
CREATE FUNCTION prune_runs(p_ended_before bigint, p_most integer) RETURNS integer
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  gone text[];
BEGIN
  PERFORM make_durable();
  WITH old AS (
    SELECT r.run_id FROM runs r WHERE r.status NOT IN ('running', 'awaitingApproval') AND r.updated_at_ms < p_ended_before
      AND (r.owner IS NULL OR NOT is_alive(r.owner)) ORDER BY r.run_id LIMIT p_most FOR UPDATE),
  removed AS (DELETE FROM runs r USING old WHERE r.run_id = old.run_id RETURNING r.run_id)
  SELECT coalesce(array_agg(removed.run_id), '{}') INTO gone FROM removed;
  DELETE FROM facts f WHERE f.run_id = ANY (gone);
  RETURN cardinality(gone);
END $$;
`;
