package storetest

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/consent"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// sampleTime is when the samples begin: to the microsecond, which every store keeps.
func sampleTime() time.Time { return time.Date(2026, 3, 1, 10, 20, 30, 405_607_000, time.UTC) }

func at(n int) time.Time { return sampleTime().Add(time.Duration(n) * time.Second) }

func digest(name string, n int) string { return fmt.Sprintf("%s-%061d", name, n) }

// awkward is JSON whose bytes say more than its meaning: spaces, an escape, a number in
// an odd form, text beyond ASCII.
func awkward(n int) jsontext.Value {
	return jsontext.Value(`{ "b":1.50e+2, "a":"\u0041\/ é \u0000", "n":` + strconv.Itoa(n) + ` }`)
}

// id makes the ids of the n-th sample.
func id(kind string, n int) string { return kind + "_" + strconv.Itoa(n) }

// plain is the least that a turn can be.
func plain(n int) store.Record {
	return store.Record{
		State: turn.State{
			Turn: id("turn", n), Session: id("sess", n), Project: "default", Channel: "public",
			Agent: "tidy", Owner: "ann", Status: turn.Queued,
		},
		Created: at(n),
	}
}

// asking is a turn whose one call waits for a consent: call tc_n and question n.
func asking(n int) store.Record {
	r := plain(n)
	r.State.Status = turn.Suspended
	r.State.Step = 1
	r.State.Calls = []turn.Call{{
		ID: id("tc", n), Key: "k", Step: id("step", n), Tool: "files.delete", Target: "files",
		Definition: digest("definition", n), Class: utp.Irreversible, Risk: utp.RiskHigh, Decision: turn.Ask,
		State: turn.Asked, Card: id("card", n), Question: n, Digest: digest("consented", n),
	}}
	r.Questions = []consent.Question{{
		Number: n, Kind: consent.Confirmation, SessionID: r.State.Session, Token: id("token", n),
		AskedAt: at(n), ClockFrom: at(n), Timeout: 300, Length: 300, Default: consent.Reject,
		Irreversible: true, Risk: consent.High, Digest: digest("consented", n), State: consent.Open,
	}}
	return r
}

// full is a turn with a value in every field there is, also in those that are younger
// than this suite.
func full(n int) store.Record {
	r := asking(n)
	fill("Batch.Turn", reflect.ValueOf(&r).Elem(), n)
	return r
}

func event(session string, n int) store.Event {
	return store.Event{
		Session: session, ID: session + "/" + id("evt", n), Type: "agent.state.changed", Body: awkward(n),
		Template: "state", Params: awkward(n + 1), At: at(n),
	}
}

// card is a tool.result card of the call tc_n.
func card(n int) utp.Card {
	return utp.Card{
		ID: id("result", n), Project: "default", Type: utp.CardToolResult, AuthorID: "tool.files", CreatedAt: at(n),
		ToolCallID: id("tc", n), Content: awkward(n), Metadata: awkward(n + 1),
	}
}

func outgoing(session string, n int) store.Outgoing {
	return store.Outgoing{
		Session: session, Subject: "cg.v1r4.default.public.cmd.tool.files.delete",
		Header:  map[string][]string{"CG-Turn-Id": {session}, "CG-Tool-Call-Id": {id("tc", n), "again"}},
		Payload: []byte("\x00payload\xff " + strconv.Itoa(n)), Call: id("tc", n),
	}
}

func consentTo(n int) store.Consent {
	return store.Consent{Question: n, Call: id("tc", n), Digest: digest("consented", n), By: "ann", Surface: "terminal", At: at(n)}
}

func report(n int) store.Report {
	return store.Report{Turn: id("turn", n), Call: id("tc", n), Card: id("result", n), Status: utp.StatusSuccess, After: string(utp.Suspend), At: at(n)}
}

func applied(n int) store.ResultRow {
	return store.ResultRow{Key: "k", Call: id("tc", n), Tool: "files.delete", Card: id("result", n)}
}

func requestKey(n int) store.RequestKey {
	return store.RequestKey{
		Principal: id("ann", n), Key: digest("key", n), Digest: digest("asked", n), Turn: id("turn", n), Session: id("sess", n), Call: id("tc", n), At: at(n),
	}
}

func lastingKey(n int) store.RequestKey {
	k := requestKey(n)
	k.Lasting = true
	return k
}

func tool(n int) store.Tool {
	return store.Tool{
		Definition: utp.Definition{
			Tool: id("files.tool", n), Description: "löscht", Parameters: awkward(n), Target: "cg.v1r4.{project_id}.{channel_id}.cmd.tool.files.delete",
			AfterExecution: utp.Suspend, Class: utp.Reversible, Risk: utp.RiskMedium, Options: awkward(n + 1),
		},
		Digest: digest("definition", n), Reviewed: true, Class: utp.Irreversible, Risk: utp.RiskHigh, LastReviewed: awkward(n + 2),
	}
}

// everything is a step that writes into each part of the ledger.
func everything(n int) store.Batch {
	r := full(n)
	session := r.State.Session
	return store.Batch{
		Turn: &r, Blobs: []api.PutRequest{piece(content(10, n), 0, 10)}, Events: []store.Event{event(session, 1), event(session, 2)}, Cards: []utp.Card{card(n)},
		Outbox:   []store.Outgoing{outgoing(session, n)},
		Consents: []store.Consent{consentTo(n)}, Consumed: []store.Consent{consentTo(n)},
		Grants:  []store.Grant{{Call: id("tc", n), Fence: 1, Owner: "owner", At: at(n)}},
		Reports: []store.Report{report(n)}, Applied: []store.ResultRow{applied(n)},
		Receipts: []store.Receipt{{
			Session: session, Call: id("tc", n), Question: n, Decision: "accept", By: "ann", Surface: "terminal",
			At: at(n), Shown: digest("shown", n), Language: "de", Salt: digest("salt", n),
			Terms: api.ReceiptTerms{
				Consent: digest("consented", n), Arguments: digest("arguments", n), Definition: digest("definition", n), Policy: "allow ünder \"x\"",
				Credential: "anns-key", Seen: api.SeenRead, Covered: "/names", Response: digest("response", n), Event: id("evt", n),
			},
		}},
		Sealed:      []store.Sealed{{Call: id("tc", n), Ref: "env:TOKEN", Box: []byte{0, 1, 2, 0xff}}},
		Late:        []store.Report{report(n)},
		Tools:       []store.Tool{tool(n)},
		Preferences: []store.Preferences{{Person: id("ann", n), Preferences: allPreferred(1 + n)}},
		Keys:        []store.RequestKey{lastingKey(n)},
	}
}

func passkey(n int) store.Passkey {
	return store.Passkey{
		ID: id("passkey", n), Public: digest("public", n), Person: id("ann", n), Name: "mein Telefön", Site: "localhost", Counter: uint32(n), Added: at(n),
	}
}

// fill gives every field that has no value one that is its own.
func fill(path string, v reflect.Value, n int) {
	switch {
	case unfillable()[path]:
	case v.Type() == reflect.TypeFor[time.Time]():
		if v.IsZero() {
			v.Set(reflect.ValueOf(at(n + len(path))))
		}
	case v.Type() == reflect.TypeFor[jsontext.Value]():
		if v.IsZero() {
			v.Set(reflect.ValueOf(awkward(n + len(path))))
		}
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			fill(path+"."+v.Type().Field(i).Name, v.Field(i), n)
		}
	case v.Kind() == reflect.Slice || v.Kind() == reflect.Array || v.Kind() == reflect.Pointer:
		fillElements(path, v, n)
	case v.IsZero():
		fillScalar(path, v, n)
	}
}

func fillElements(path string, v reflect.Value, n int) {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		fill(path, v.Elem(), n)
		return
	}
	if v.Kind() == reflect.Slice && v.Len() == 0 {
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
	}
	for i := range v.Len() {
		one := path
		if v.Index(i).Kind() != reflect.Struct {
			one += strconv.Itoa(i) // so that two texts differ
		}
		fill(one, v.Index(i), n)
	}
}

func fillScalar(path string, v reflect.Value, n int) {
	switch {
	case v.Kind() == reflect.String:
		v.SetString(path + " é " + strconv.Itoa(n))
	case v.Kind() == reflect.Bool:
		v.SetBool(true)
	case v.CanInt():
		v.SetInt(int64(len(path)*1000 + n))
	case v.CanUint():
		v.SetUint(1<<63 + uint64(len(path)*1000+n)) // more than a double or a signed number carries
	case v.CanFloat():
		v.SetFloat(float64(len(path)) + 0.25)
	}
}

// Fields that a sample cannot fill: they are given by the store, or name rows that are
// there already.
func unfillable() map[string]bool {
	return map[string]bool{
		"Batch.Turn.Version": true, "Batch.Turn.Last": true, "Batch.Events.Seq": true, "Batch.Outbox.ID": true, "Batch.Applied.N": true,
		"Batch.Receipts.Entry": true, "Batch.Published": true, "Batch.Claimed": true, "Batch.SendOnce": true,
		"Batch.Dead": true, "Batch.Purge": true, "Batch.Removed": true, "Batch.Acts": true, "Batch.InForce": true, "Batch.Permissions": true,
		// which have exercises of their own
		"Batch.Passkeys": true, "Batch.PasskeysUsed": true, "Batch.PasskeysRemoved": true, "Batch.Agents": true, "Batch.Boxes": true,
		"Batch.Receipts.Terms.Signed": true, "Batch.Outbox.Died": true, "Batch.Outbox.Reason": true,
		"Batch.Blobs.Offset": true, // a first piece has none
		"Batch.Blobs.By":     true, // the kernel has taken it to heart before it is stored
	}
}

// unfilled lists the fields of a sample that have no value.
func unfilled(path string, v reflect.Value, except map[string]bool) []string {
	switch {
	case except[path]:
		return nil
	case v.IsZero():
		return []string{path}
	case v.Kind() == reflect.Pointer:
		return unfilled(path, v.Elem(), except)
	case v.Kind() == reflect.Struct && v.Type() != reflect.TypeFor[time.Time]():
		var found []string
		for i := range v.NumField() {
			found = append(found, unfilled(path+"."+v.Type().Field(i).Name, v.Field(i), except)...)
		}
		return found
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Struct:
		var found []string
		for i := range v.Len() {
			found = append(found, unfilled(path, v.Index(i), except)...)
		}
		return found
	}
	return nil
}

func sampleCases() []exercise {
	return []exercise{
		{"every field has a value", func(l *ledger) {
			if empty := unfilled("Batch", reflect.ValueOf(everything(1)), unfillable()); len(empty) > 0 {
				l.t.Errorf("the samples leave fields empty, so no store is asked to keep them: %s", strings.Join(empty, ", "))
			}
		}},
		{"every part is written and read", func(l *ledger) {
			b := everything(1)
			l.save(b)
			readBack(l, 1, b)
		}},
	}
}

// readBack compares all that the port can read with what everything has written.
func readBack(l *ledger, n int, b store.Batch) {
	l.t.Helper()
	want := *b.Turn
	want.Version = 1
	same(l, "turn", l.turn(store.TurnRef{Turn: want.State.Turn}), want)
	same(l, "events", l.events(want.State.Session), b.Events)
	same(l, "card", l.card(b.Cards[0].ID), b.Cards[0])
	l.blob(b.Blobs[0].Data)
	row := b.Applied[0]
	row.N = 1
	same(l, "results", l.results(want.State.Turn), []store.ResultRow{row})
	l.view(func(tx store.Tx) error {
		kept, err := store.OneRow(tx.Tools(store.ToolFilter{Names: []string{b.Tools[0].Definition.Tool}}))
		same(l, "tool", kept, b.Tools[0])
		if err != nil {
			return err
		}
		sealed, serr := tx.Sealed(id("tc", n))
		same(l, "sealed values", sealed, b.Sealed)
		receipts, rerr := tx.Receipts(want.State.Session)
		same(l, "receipts", l.unnumbered(receipts), b.Receipts)
		preferences, perr := tx.Preferences(b.Preferences[0].Person)
		same(l, "preferences", preferences, b.Preferences[0])
		key, kerr := tx.RequestKey(b.Keys[0].Principal, b.Keys[0].Key)
		same(l, "key", key, b.Keys[0])
		return errors.Join(serr, rerr, perr, kerr)
	})
	for _, o := range l.outbox() {
		if o.Session == want.State.Session {
			sent := b.Outbox[0]
			sent.ID = o.ID // which the batch knows only if it is the one that was saved
			same(l, "outbox", o, sent)
			return
		}
	}
	l.t.Errorf("nothing of %s is in the outbox", want.State.Session)
}
