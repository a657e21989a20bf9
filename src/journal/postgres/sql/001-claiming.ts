/**
 * Claiming, in the database itself: each call is one transaction of one statement, so that no connection
 * ever sleeps while it holds a lock. A released migration is never edited.
 *
 * Order of locks, everywhere: scopes by their ids, then operation ids, then entries; so nothing deadlocks.
 * All times are the database's. `$schema$` stands for the schema's name.
 */
export const CLAIMING_001 = `
CREATE FUNCTION now_ms() RETURNS bigint LANGUAGE sql AS $$
  SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint $$;

CREATE FUNCTION sum_of(VARIADIC parts text[]) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
  SELECT sha256(convert_to(array_to_string(parts, E'\\n'), 'UTF8')) $$;

-- Whatever the session is set to: a commit that was acknowledged is on disk.
CREATE FUNCTION make_durable() RETURNS void LANGUAGE sql AS $$
  SELECT set_config('synchronous_commit', 'on', true)
  WHERE current_setting('synchronous_commit') NOT IN ('on', 'remote_apply') $$;

-- Makes the scopes that there are not yet, and locks all of them, in one order. A condition that is never
-- true locks the row all the same.
CREATE FUNCTION lock_scopes(p_scopes text[], p_names text[]) RETURNS void LANGUAGE sql AS $$
  INSERT INTO scopes AS s (scope, name)
  SELECT DISTINCT ON (t.scope) t.scope, t.name FROM unnest(p_scopes, p_names) AS t (scope, name) ORDER BY t.scope
  ON CONFLICT (scope) DO UPDATE SET fence = s.fence WHERE false $$;

CREATE FUNCTION lock_scopes_of(p_operations text[]) RETURNS void LANGUAGE sql AS $$
  SELECT lock_scopes(array_agg(scope), array_agg(''::text)) FROM (
    SELECT DISTINCT unnest(e.scopes) AS scope FROM entries e WHERE e.operation_id = ANY (p_operations)) t
  HAVING count(*) > 0 $$;

-- Keeps the owner's lease; one that ran out is an error, since the owner counts as dead.
CREATE FUNCTION keep_lease(p_owner uuid, p_lease_ms integer, p_least_ms integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  remaining interval;
BEGIN
  SELECT lease_until - clock_timestamp() INTO remaining FROM owners WHERE owner = p_owner;
  IF remaining IS NULL OR remaining <= interval '0' THEN
    RAISE EXCEPTION 'toolkernel: the lease ran out' USING ERRCODE = 'TK001';
  END IF;
  IF remaining < p_least_ms * interval '1 ms' THEN
    UPDATE owners SET lease_until = clock_timestamp() + p_lease_ms * interval '1 ms'
    WHERE owner = p_owner AND lease_until > clock_timestamp();
    RETURN p_lease_ms;
  END IF;
  RETURN (extract(epoch FROM remaining) * 1000)::integer;
END $$;

CREATE FUNCTION claim_one(p_owner uuid, p_operation text, p_claim text, p_hash text, p_intent text, p_scopes text[],
  OUT kind text, OUT fence bigint) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  e entries;
  is_new boolean;
  own_ticket bigint;
  is_free boolean;
  at_ms bigint := (extract(epoch FROM clock_timestamp()) * 1000)::bigint;
BEGIN
  SELECT * INTO e FROM entries WHERE operation_id = p_operation FOR UPDATE;
  is_new := NOT FOUND;
  IF NOT is_new THEN
    kind := CASE
      WHEN e.intent_hash <> p_hash THEN 'mismatch'
      WHEN e.is_forgotten THEN 'forgotten'
      WHEN e.state IN ('committed', 'rejected', 'failed') THEN 'final'
      WHEN e.state = 'uncertain' THEN 'uncertain'
      WHEN e.state = 'dispatched' AND e.claim_id = p_claim THEN 'claimed'
      WHEN e.state = 'dispatched' THEN 'inFlight'
      WHEN e.state = 'prepared' AND e.claim_id <> p_claim THEN 'inFlight'
      WHEN e.state = 'abandoned' AND e.claim_id = p_claim THEN 'withdrawn'
      WHEN e.state = 'abandoned' AND e.scopes <> p_scopes THEN 'rescoped' END;
    fence := e.fence;
    IF kind IS NOT NULL THEN RETURN; END IF;
  END IF;
  IF e.state = 'prepared' THEN
    SELECT min(ticket) INTO own_ticket FROM waiters WHERE operation_id = p_operation;
  END IF;
  SELECT coalesce(bool_and(s.holder IS NULL), true), greatest(coalesce(max(s.fence), 0), coalesce(e.fence, 0)) + 1
    INTO is_free, fence FROM scopes s WHERE s.scope = ANY (p_scopes);
  is_free := is_free AND NOT EXISTS (
    SELECT 1 FROM waiters w WHERE w.scope = ANY (p_scopes) AND w.operation_id <> p_operation
      AND (own_ticket IS NULL OR w.ticket < own_ticket) AND w.seen_at > clock_timestamp() - interval '3 s');
  kind := CASE WHEN is_free THEN 'claimed' ELSE 'waiting' END;
  IF NOT is_free AND e.state = 'prepared' THEN RETURN; END IF;
  IF NOT is_free THEN fence := coalesce(e.fence, 0); END IF;
  IF is_new THEN
    INSERT INTO entries (operation_id, state, fence, owner, claim_id, intent_hash, intent, intent_sum, scopes, created_at_ms, updated_at_ms)
    VALUES (p_operation, CASE WHEN is_free THEN 'dispatched' ELSE 'prepared' END, claim_one.fence, p_owner, p_claim, p_hash,
      p_intent, sha256(convert_to(p_operation || E'\\n' || p_intent, 'UTF8')), p_scopes, at_ms, at_ms);
  ELSE
    UPDATE entries SET state = CASE WHEN is_free THEN 'dispatched' ELSE 'prepared' END, fence = claim_one.fence,
      owner = p_owner, claim_id = p_claim, updated_at_ms = at_ms WHERE operation_id = p_operation;
  END IF;
  IF is_free THEN
    UPDATE scopes s SET fence = claim_one.fence, holder = p_operation WHERE s.scope = ANY (p_scopes) AND s.holder IS NULL;
    IF own_ticket IS NOT NULL THEN DELETE FROM waiters WHERE operation_id = p_operation; END IF;
  ELSE
    INSERT INTO waiters (scope, ticket, operation_id, owner, seen_at)
    SELECT t.scope, t.ticket, p_operation, p_owner, clock_timestamp()
    FROM (SELECT nextval('tickets') AS ticket) n, LATERAL (SELECT unnest(p_scopes) AS scope, n.ticket) t;
  END IF;
END $$;

-- Whether asking again would change nothing: the attempt stands in line, its scopes are not free, and its
-- process has shown itself lately. A look that takes no lock, for those who look often.
CREATE FUNCTION still_waits(p_operation text, p_claim text, p_scopes text[]) RETURNS boolean LANGUAGE sql STABLE
SET search_path FROM CURRENT AS $$
  SELECT EXISTS (SELECT 1 FROM entries e WHERE e.operation_id = p_operation AND e.claim_id = p_claim AND e.state = 'prepared')
    AND NOT EXISTS (SELECT 1 FROM waiters w WHERE w.operation_id = p_operation AND w.seen_at < clock_timestamp() - interval '1 s')
    AND (EXISTS (SELECT 1 FROM scopes s WHERE s.scope = ANY (p_scopes) AND s.holder IS NOT NULL)
      OR EXISTS (SELECT 1 FROM waiters w JOIN waiters own ON own.operation_id = p_operation AND own.scope = w.scope
        WHERE w.ticket < own.ticket AND w.seen_at > clock_timestamp() - interval '3 s')) $$;
`;
