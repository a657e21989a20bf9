/**
 * Ending, taking over and sweeping, in the database itself; see `001-claiming` for the order of locks. A
 * released migration is never edited.
 */
export const ENDING_001 = `
-- One batch of a process: first receipts and doubts, then claims, all in one transaction. Claims are given
-- by arrays of equal length; their scopes by one array, of which each has its part.
CREATE FUNCTION take_steps(p_owner uuid, p_lease_ms integer,
  f_operation text[], f_fence bigint[], f_state text[], f_receipt text[], f_evidence text[],
  c_operation text[], c_claim text[], c_hash text[], c_intent text[], c_first integer[], c_last integer[],
  s_scope text[], s_name text[])
RETURNS TABLE (part text, place integer, kind text, fence bigint) LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
#variable_conflict use_column
DECLARE
  ix integer;
BEGIN
  PERFORM make_durable();
  PERFORM lock_scopes(s_scope || coalesce(array_agg(t.scope), '{}'), s_name || coalesce(array_agg(''::text), '{}'))
  FROM (SELECT DISTINCT unnest(e.scopes) AS scope FROM entries e WHERE e.operation_id = ANY (f_operation)) t;
  PERFORM pg_advisory_xact_lock(t.key) FROM (
    SELECT DISTINCT hashtextextended('$schema$:' || o, 7) AS key FROM unnest(c_operation) AS o ORDER BY 1) t;
  FOR ix IN SELECT t.n FROM unnest(f_operation) WITH ORDINALITY AS t (o, n) ORDER BY t.o, t.n LOOP
    part := 'finish'; place := ix; fence := f_fence[ix];
    kind := end_one(f_operation[ix], f_fence[ix], f_state[ix], f_receipt[ix]);
    IF kind = 'saved' AND f_evidence[ix] IS NOT NULL THEN
      PERFORM add_evidence(f_operation[ix], 'resolution', f_fence[ix], f_evidence[ix]);
    END IF;
    RETURN NEXT;
  END LOOP;
  IF cardinality(c_operation) > 0 THEN
    part := 'lease'; place := 0; kind := 'kept';
    fence := keep_lease(p_owner, p_lease_ms, p_lease_ms / 2);
    RETURN NEXT;
    UPDATE waiters SET seen_at = clock_timestamp()
    WHERE owner = p_owner AND seen_at < clock_timestamp() - interval '1 s';
  END IF;
  FOR ix IN 1 .. cardinality(c_operation) LOOP
    part := 'claim'; place := ix;
    SELECT c.kind, c.fence INTO kind, fence FROM claim_one(p_owner, c_operation[ix], c_claim[ix], c_hash[ix], c_intent[ix],
      coalesce(s_scope[c_first[ix]:c_last[ix]], '{}')) c;
    RETURN NEXT;
  END LOOP;
END $$;

-- Saves a receipt, or that there is none to be had yet, if state and fence are those it was made under.
CREATE FUNCTION end_one(p_operation text, p_fence bigint, p_state text, p_receipt text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  named text[];
BEGIN
  UPDATE entries SET state = p_state, receipt = p_receipt, receipt_sum = sum_of(p_operation, p_state, p_receipt),
    held_until = NULL, updated_at_ms = now_ms()
  WHERE operation_id = p_operation AND fence = p_fence
    AND (state = 'dispatched' OR (state = 'uncertain' AND p_state <> 'uncertain')) RETURNING scopes INTO named;
  IF NOT FOUND THEN RETURN 'look'; END IF;
  IF p_state <> 'uncertain' THEN
    UPDATE scopes SET holder = NULL WHERE scope = ANY (named) AND holder = p_operation;
    PERFORM tell_waiters(p_operation, named);
  END IF;
  RETURN 'saved';
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
  RETURN CASE end_one(p_operation, e.fence, 'failed', p_receipt) WHEN 'saved' THEN 'closed' ELSE 'nothing' END;
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
