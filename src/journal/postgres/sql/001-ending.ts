/**
 * Ending, taking over and sweeping, in the database itself; see `001-claiming` for the order of locks. A
 * released migration is never edited.
 */
export const ENDING_001 = `
-- One batch of a process: first receipts and doubts, then claims, all in one transaction. Claims are given
-- by arrays of equal length; their scopes by one array, of which each has its part. Claims that share a
-- scope or an id with one before them in the batch are not c_alone. What is new and free is claimed
-- all at once, the rest one by one. Plans that read whole tables are kept out, whatever the statistics say.
CREATE FUNCTION take_steps(p_owner uuid, p_lease_ms integer,
  f_operation text[], f_fence bigint[], f_state text[], f_receipt text[], f_evidence text[],
  c_operation text[], c_claim text[], c_hash text[], c_intent text[], c_alone boolean[], c_first integer[], c_last integer[],
  s_scope text[], s_name text[])
RETURNS TABLE (part text, place integer, kind text, fence bigint) LANGUAGE plpgsql
SET search_path FROM CURRENT SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
#variable_conflict use_column
DECLARE
  claimed record;
  done integer[];
  at_ms bigint := (extract(epoch FROM clock_timestamp()) * 1000)::bigint;
BEGIN
  PERFORM make_durable();
  PERFORM lock_scopes(s_scope || coalesce(array_agg(t.scope), '{}'), s_name || coalesce(array_agg(''::text), '{}'))
  FROM (SELECT DISTINCT unnest(e.scopes) AS scope FROM entries e WHERE e.operation_id = ANY (f_operation)) t;
  IF cardinality(f_operation) > 0 THEN
    RETURN QUERY SELECT 'finish', t.n, 'saved', 0::bigint FROM unnest(end_many(f_operation, f_fence, f_state, f_receipt, f_evidence)) AS t (n);
  END IF;
  IF cardinality(c_operation) = 0 THEN RETURN; END IF;
  PERFORM pg_advisory_xact_lock(t.key) FROM (
    SELECT DISTINCT hashtextextended('$schema$:' || o, 7) AS key FROM unnest(c_operation) AS o ORDER BY 1) t;
  part := 'lease'; place := 0; kind := 'kept';
  fence := keep_lease(p_owner, p_lease_ms, p_lease_ms / 2);
  RETURN NEXT;
  UPDATE waiters SET seen_at = clock_timestamp() WHERE owner = p_owner AND seen_at < clock_timestamp() - interval '1 s';
  WITH made AS (
    INSERT INTO entries (operation_id, state, fence, owner, claim_id, intent_hash, intent, intent_sum, scopes, created_at_ms, updated_at_ms)
    SELECT c.operation, 'dispatched', f.fence, p_owner, c.claim, c.hash, c.intent,
      sha256(convert_to(c.operation || E'\\n' || c.intent, 'UTF8')), coalesce(s_scope[c.first:c.last], '{}'), at_ms, at_ms
    FROM unnest(c_operation, c_claim, c_hash, c_intent, c_alone, c_first, c_last) AS c (operation, claim, hash, intent, alone, first, last),
      LATERAL (SELECT coalesce(max(s.fence), 0) + 1 AS fence, coalesce(bool_and(s.holder IS NULL), true) AS is_free
        FROM scopes s WHERE s.scope = ANY (s_scope[c.first:c.last])) f
    WHERE c.alone AND f.is_free AND NOT EXISTS (SELECT 1 FROM entries e WHERE e.operation_id = c.operation)
      AND NOT EXISTS (SELECT 1 FROM waiters w WHERE w.scope = ANY (s_scope[c.first:c.last]))
    ON CONFLICT (operation_id) DO NOTHING RETURNING operation_id, fence, scopes),
  held AS (
    UPDATE scopes s SET fence = m.fence, holder = m.operation_id
    FROM (SELECT operation_id, fence, unnest(scopes) AS scope FROM made) m WHERE s.scope = m.scope)
  SELECT coalesce(array_agg(array_position(c_operation, m.operation_id)), '{}') INTO done FROM made m;
  part := 'claim';
  RETURN QUERY SELECT 'claim', t.n, 'claimed', e.fence FROM unnest(done) AS t (n), entries e WHERE e.operation_id = c_operation[t.n];
  FOR place IN SELECT n FROM generate_subscripts(c_operation, 1) AS n WHERE n <> ALL (done) ORDER BY n LOOP
    claimed := claim_one(p_owner, c_operation[place], c_claim[place], c_hash[place], c_intent[place],
      coalesce(s_scope[c_first[place]:c_last[place]], '{}'));
    kind := claimed.kind; fence := claimed.fence;
    RETURN NEXT;
  END LOOP;
END $$;

-- Saves receipts, or that there are none to be had yet, where state and fence are those they were made
-- under; answers the places of those that were saved.
CREATE FUNCTION end_many(f_operation text[], f_fence bigint[], f_state text[], f_receipt text[], f_evidence text[])
RETURNS integer[] LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  done integer[];
  at_ms bigint := (extract(epoch FROM clock_timestamp()) * 1000)::bigint;
BEGIN
  WITH ended AS (
    UPDATE entries e SET state = f.state, receipt = f.receipt, held_until = NULL, updated_at_ms = at_ms,
      receipt_sum = sha256(convert_to(f.operation || E'\\n' || f.state || E'\\n' || f.receipt, 'UTF8'))
    FROM unnest(f_operation, f_fence, f_state, f_receipt) WITH ORDINALITY AS f (operation, fence, state, receipt, n)
    WHERE e.operation_id = f.operation AND e.fence = f.fence
      AND (e.state = 'dispatched' OR (e.state = 'uncertain' AND f.state <> 'uncertain'))
    RETURNING f.n::integer AS n, e.operation_id, e.scopes, e.state),
  freed AS (
    UPDATE scopes s SET holder = NULL FROM (SELECT operation_id, unnest(scopes) AS scope FROM ended WHERE state <> 'uncertain') t
    WHERE s.scope = t.scope AND s.holder = t.operation_id)
  SELECT coalesce(array_agg(n), '{}') INTO done FROM ended;
  PERFORM add_evidence(f_operation[t.n], 'resolution', f_fence[t.n], f_evidence[t.n])
  FROM unnest(done) AS t (n) WHERE f_evidence[t.n] IS NOT NULL;
  IF EXISTS (SELECT 1 FROM waiters) THEN
    PERFORM tell_waiters(e.operation_id, e.scopes) FROM unnest(done) AS t (n), entries e
    WHERE e.operation_id = f_operation[t.n] AND e.state <> 'uncertain';
  END IF;
  RETURN done;
END $$;

-- Wakes other processes, if any of them waits for these scopes.
CREATE FUNCTION tell_waiters(p_operation text, p_scopes text[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM waiters w WHERE w.scope = ANY (p_scopes)) THEN
    PERFORM pg_notify('toolkernel_$schema$', array_to_string(p_scopes, ' ') || E'\\n' || p_operation);
  END IF;
END $$;

CREATE FUNCTION add_evidence(p_operation text, p_kind text, p_fence bigint, p_content text) RETURNS void LANGUAGE sql
SET search_path FROM CURRENT AS $$
  INSERT INTO evidence (operation_id, kind, fence, content, content_sum, at_ms)
  VALUES (p_operation, p_kind, p_fence, p_content, sum_of(p_kind, p_content), now_ms()) $$;

-- Abandons a prepared entry, or with a claim ends that attempt; without one only a prepared entry ends.
CREATE FUNCTION withdraw(p_operation text, p_claim text, p_receipt text) RETURNS text
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  e entries;
BEGIN
  PERFORM make_durable();
  PERFORM lock_scopes_of(ARRAY[p_operation]);
  SELECT * INTO e FROM entries WHERE operation_id = p_operation FOR UPDATE;
  IF NOT FOUND OR e.claim_id <> coalesce(p_claim, e.claim_id) THEN RETURN 'nothing'; END IF;
  IF e.state = 'prepared' THEN
    UPDATE entries SET state = 'abandoned', updated_at_ms = now_ms() WHERE operation_id = p_operation;
    DELETE FROM waiters WHERE operation_id = p_operation;
    PERFORM tell_waiters(p_operation, e.scopes);
    RETURN 'abandoned';
  END IF;
  IF e.state <> 'dispatched' OR p_claim IS NULL THEN RETURN 'nothing'; END IF;
  PERFORM end_many(ARRAY[p_operation], ARRAY[e.fence], ARRAY['failed'], ARRAY[p_receipt], ARRAY[NULL]::text[]);
  RETURN 'closed';
END $$;

CREATE FUNCTION take_over(p_operation text, p_by_person boolean, p_hold_ms integer, OUT kind text, OUT entry entries)
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
  IF kind <> 'taken' THEN RETURN; END IF;
  UPDATE entries SET fence = fence + 1, held_until = clock_timestamp() + p_hold_ms * interval '1 ms', updated_at_ms = now_ms()
  WHERE operation_id = p_operation RETURNING * INTO entry;
  UPDATE scopes SET fence = entry.fence WHERE scope = ANY (entry.scopes) AND holder = p_operation;
END $$;

-- What owners whose lease ran out have left: uncertain where it was dispatched, abandoned where it waited.
CREATE FUNCTION sweep() RETURNS TABLE (swept_state text, swept_operation text, swept_scopes text[])
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  left_behind text[];
BEGIN
  SELECT array_agg(e.operation_id) INTO left_behind FROM entries e
  WHERE e.state IN ('prepared', 'dispatched', 'uncertain') AND e.state <> 'uncertain' AND NOT is_alive(e.owner);
  IF left_behind IS NULL THEN RETURN; END IF;
  PERFORM make_durable();
  PERFORM lock_scopes_of(left_behind);
  FOR swept_operation, swept_state, swept_scopes IN
    SELECT e.operation_id, e.state, e.scopes FROM entries e WHERE e.operation_id = ANY (left_behind)
      AND e.state IN ('prepared', 'dispatched') AND NOT is_alive(e.owner) ORDER BY e.operation_id FOR UPDATE LOOP
    swept_state := CASE swept_state WHEN 'prepared' THEN 'abandoned' ELSE 'uncertain' END;
    UPDATE entries SET state = swept_state, updated_at_ms = now_ms() WHERE operation_id = swept_operation;
    DELETE FROM waiters WHERE operation_id = swept_operation;
    PERFORM tell_waiters(swept_operation, swept_scopes);
    RETURN NEXT;
  END LOOP;
  DELETE FROM owners WHERE lease_until < clock_timestamp() - interval '1 day';
END $$;

CREATE FUNCTION is_alive(p_owner uuid) RETURNS boolean LANGUAGE sql AS $$
  SELECT EXISTS (SELECT 1 FROM owners o WHERE o.owner = p_owner AND o.lease_until > clock_timestamp()) $$;
`;
