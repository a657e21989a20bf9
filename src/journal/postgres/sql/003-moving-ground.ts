/**
 * What stands when the ground moves: a clock that is set to another time, and a server that becomes another
 * one. A released migration is never edited. Order of locks: see `001-claiming`.
 *
 * No lease lasts longer than it was made for. One that seems to was made before the clock was set back; it
 * is as long as it was made for from when somebody notices, so that who lives has time to keep it, and who
 * is dead is looked after as soon as ever. Where the clock is set forward, leases run out early; that costs
 * reconciliations, and never a second write (ACT-5).
 */
export const MOVING_GROUND_003 = `
-- Of owners that were there before: the longest lease there can be.
ALTER TABLE owners ADD COLUMN lease_ms bigint NOT NULL DEFAULT 86400000;

-- On which line of history the server writes: another one after a failover or a restore. What the control
-- file says is older. Nothing where the server only reads.
CREATE FUNCTION server_timeline() RETURNS integer LANGUAGE sql AS $$
  SELECT CASE WHEN NOT pg_is_in_recovery() THEN ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::integer END $$;

-- A plan that reads the whole table looks at all the dead rows that nobody has cleared away, each time; one
-- that goes by an index looks at each of them once.
CREATE INDEX waiters_owner ON waiters (owner);

-- Leases, and signs of life of those who wait, that a clock which was set back has left in the future. Rows
-- that somebody else holds are left to him.
CREATE FUNCTION shorten_leases() RETURNS void LANGUAGE sql SET search_path FROM CURRENT SET enable_seqscan = off AS $$
  UPDATE owners o SET lease_until = clock_timestamp() + o.lease_ms * interval '1 ms'
  FROM (SELECT owner FROM owners WHERE lease_until > clock_timestamp() + lease_ms * interval '1 ms' ORDER BY owner FOR UPDATE SKIP LOCKED) t
  WHERE o.owner = t.owner;
  UPDATE waiters w SET seen_at = clock_timestamp()
  FROM (SELECT scope, ticket FROM waiters WHERE seen_at > clock_timestamp() + interval '1 s' ORDER BY scope, ticket FOR UPDATE SKIP LOCKED) t
  WHERE w.scope = t.scope AND w.ticket = t.ticket $$;

-- Keeps the owner's lease; one that ran out is an error, since the owner counts as dead. So is a server that
-- became another one while this process had the journal open, since it may lack what was acknowledged, and
-- one that was set to what can lose it.
CREATE OR REPLACE FUNCTION keep_lease(p_owner uuid, p_lease_ms integer, p_least_ms integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  remaining interval;
BEGIN
  IF EXISTS (SELECT 1 FROM journal j WHERE j.one AND j.system_identifier IS NOT NULL AND j.timeline <> server_timeline()) THEN
    RAISE EXCEPTION 'toolkernel: the server was restored or failed over' USING ERRCODE = 'TK003';
  END IF;
  IF current_setting('fsync') <> 'on' OR current_setting('full_page_writes') <> 'on' THEN
    RAISE EXCEPTION 'toolkernel: fsync or full_page_writes is off' USING ERRCODE = 'TK004';
  END IF;
  SELECT lease_until - clock_timestamp() INTO remaining FROM owners WHERE owner = p_owner;
  IF remaining > interval '0' AND remaining BETWEEN p_least_ms * interval '1 ms' AND p_lease_ms * interval '1 ms' THEN
    RETURN (extract(epoch FROM remaining) * 1000)::integer;
  END IF;
  UPDATE owners SET lease_until = clock_timestamp() + p_lease_ms * interval '1 ms'
  WHERE owner = p_owner AND lease_until > clock_timestamp();
  IF NOT FOUND THEN
    RAISE EXCEPTION 'toolkernel: the lease ran out' USING ERRCODE = 'TK001';
  END IF;
  RETURN p_lease_ms;
END $$;

-- One that holds for longer than the next would was taken before the clock was set back.
CREATE OR REPLACE FUNCTION take_over(p_operation text, p_by_person boolean, p_hold_ms integer, OUT kind text, OUT entry entries)
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  PERFORM make_durable();
  PERFORM lock_scopes_of(ARRAY[p_operation]);
  SELECT * INTO entry FROM entries WHERE operation_id = p_operation FOR UPDATE;
  kind := CASE
    WHEN NOT FOUND THEN 'unknown'
    WHEN entry.state <> 'uncertain' THEN 'settled'
    WHEN entry.held_until > clock_timestamp() AND NOT p_by_person THEN 'busy'
    ELSE 'taken' END;
  IF kind = 'busy' THEN
    UPDATE entries SET held_until = clock_timestamp() + p_hold_ms * interval '1 ms'
    WHERE operation_id = p_operation AND held_until > clock_timestamp() + p_hold_ms * interval '1 ms';
  END IF;
  IF kind <> 'taken' THEN RETURN; END IF;
  UPDATE entries SET fence = fence + 1, held_until = clock_timestamp() + p_hold_ms * interval '1 ms', updated_at_ms = now_ms()
  WHERE operation_id = p_operation RETURNING * INTO entry;
  UPDATE scopes SET fence = entry.fence WHERE scope = ANY (entry.scopes) AND holder = p_operation;
END $$;

ALTER FUNCTION sweep() RENAME TO sweep_dead;
ALTER FUNCTION sweep_dead() SET enable_seqscan = off SET enable_bitmapscan = off;

CREATE FUNCTION sweep() RETURNS TABLE (swept_state text, swept_operation text, swept_scopes text[])
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  RETURN QUERY SELECT * FROM sweep_dead();
  PERFORM shorten_leases();
END $$;

-- Takes a run that nobody alive has; one that this owner has is taken anew.
CREATE OR REPLACE FUNCTION take_run(p_owner uuid, p_lease_ms integer, p_run text, p_create boolean,
  OUT kind text, OUT run_fence bigint, OUT run_facts bigint, OUT remaining_ms integer)
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  r runs;
BEGIN
  PERFORM make_durable();
  remaining_ms := keep_lease(p_owner, p_lease_ms, p_lease_ms / 2);
  PERFORM shorten_leases();
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

-- On disk when it is acknowledged, also where it is all that a transaction does.
CREATE OR REPLACE FUNCTION add_evidence(p_operation text, p_kind text, p_fence bigint, p_content text) RETURNS void LANGUAGE sql
SET search_path FROM CURRENT AS $$
  SELECT make_durable();
  INSERT INTO evidence (operation_id, kind, fence, content, content_sum, at_ms)
  VALUES (p_operation, p_kind, p_fence, p_content, sum_of(p_kind, p_content), now_ms()) $$;
`;
