package audit_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/api/audit"
)

// chain is a chain that is made as a ledger makes one.
type chain []api.AuditEntry

func (c *chain) add(e api.AuditEntry) {
	last := ""
	if n := len(*c); n > 0 {
		last = (*c)[n-1].Link
	}
	e.N, e.At = int64(len(*c)+1), time.UnixMicro(int64(1000+len(*c)))
	e.Link = audit.Link(last, e)
	*c = append(*c, e)
}

func (c *chain) answer() {
	n := len(*c) + 1
	r := api.AuditReceipt{
		ReceiptDetail: api.ReceiptDetail{Call: fmt.Sprintf("tc_%d", n), Question: n, Decision: "accept", By: "ada", Surface: "page", At: time.UnixMicro(int64(n)), Shown: "5e", Language: "en"},
		Session:       "sess_1", Salt: fmt.Sprintf("%032d", n),
	}
	c.add(api.AuditEntry{Kind: audit.Answer, Commitment: audit.Commitment(r), Receipt: &r})
}

func (c *chain) forget(of int64) {
	if of > 0 && of <= int64(len(*c)) {
		(*c)[of-1].Receipt = nil
	}
	c.add(api.AuditEntry{Kind: audit.Forgotten, Of: of})
}

// relinked makes all links again, as somebody who may write to the database can.
func (c chain) relinked() chain {
	last := ""
	for i := range c {
		c[i].Link = audit.Link(last, c[i])
		last = c[i].Link
	}
	return c
}

// six is: three answers, the second forgotten, another answer, the first forgotten.
func six() chain {
	var c chain
	c.answer()
	c.answer()
	c.answer()
	c.forget(2)
	c.answer()
	c.forget(1)
	return c
}

// verified reads a chain in pages of two, and lists the flaws as "entry flaw".
func verified(t *testing.T, v audit.Verifier, c chain, beside api.AuditUnchained) (string, audit.Report) {
	t.Helper()
	var flaws []string
	v.Found = func(f audit.Finding) {
		flaws = append(flaws, fmt.Sprintf("%d %s", f.N, f.Flaw))
		if f.Found.Form == "" || f.Means.Form == "" || f.Do.Form == "" {
			t.Errorf("%+v does not say what was found, what it means and what to do", f)
		}
	}
	err := v.Read(func(int64) (api.AuditAnswer, error) {
		n := min(2, len(c))
		page := api.AuditAnswer{Entries: c[:n], More: n < len(c)}
		c = c[n:]
		return page, nil
	})
	if err != nil {
		t.Error(err)
	}
	report := v.End(beside)
	if report.Findings != int64(len(flaws)) {
		t.Errorf("%d findings, %d were told", report.Findings, len(flaws))
	}
	return strings.Join(flaws, ", "), report
}

func TestVerifier(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		alter func(c chain) chain
		flaws string
	}{
		"whole":                  {func(c chain) chain { return c }, ""},
		"empty":                  {func(chain) chain { return nil }, ""},
		"the end cut off":        {func(c chain) chain { return c[:5] }, "1 missing"}, // what said so is gone
		"a part that stays true": {func(c chain) chain { return six()[:3:3] }, "1 missing, 2 missing"},
		"an entry is gone":       {func(c chain) chain { return slices.Delete(c, 2, 3) }, "4 gap"},
		"the first is gone":      {func(c chain) chain { return c[1:] }, "2 gap, 6 baseless"},
		"an entry twice":         {func(c chain) chain { return slices.Insert(c, 3, c[2]) }, "3 repeat"},
		"a kind":                 {func(c chain) chain { c[2].Kind = "other"; return c }, "3 broken, 3 unknown"},
		"a kind, linked":         {func(c chain) chain { c[2].Kind = "other"; return c.relinked() }, "3 unknown"},
		"a time":                 {func(c chain) chain { c[2].At = c[2].At.Add(time.Microsecond); return c }, "3 broken"},
		"a commitment":           {func(c chain) chain { c[4].Commitment = c[0].Commitment; return c }, "5 broken, 5 altered"},
		"a commitment, linked":   {func(c chain) chain { c[4].Commitment = c[0].Commitment; return c.relinked() }, "5 altered"},
		"a link":                 {func(c chain) chain { c[2].Link = strings.Repeat("0", 64); return c }, "3 broken, 4 broken"},
		"whom it forgets":        {func(c chain) chain { c[3].Of = 3; return c }, "4 broken, 3 still, 2 missing"},
		"a receipt is gone":      {func(c chain) chain { c[2].Receipt = nil; return c }, "3 missing"},
		"two receipts are gone":  {func(c chain) chain { c[2].Receipt, c[4].Receipt = nil, nil; return c }, "3 missing, 5 missing"},
		"a receipt is back":      {func(c chain) chain { c[1].Receipt = firstReceipt(2); return c }, "2 still"},
		"a receipt elsewhere":    {func(c chain) chain { c[3].Receipt = firstReceipt(2); return c }, "4 out-of-place"},
		"receipts exchanged":     {func(c chain) chain { c[2].Receipt, c[4].Receipt = c[4].Receipt, c[2].Receipt; return c }, "3 altered, 5 altered"},
		"forgotten twice":        {func(c chain) chain { c.forget(2); return c }, "7 again"},
		"a later one forgotten":  {func(c chain) chain { c.forget(9); return c }, "7 baseless"},
		"itself forgotten":       {func(c chain) chain { c.forget(7); return c }, "7 baseless"},
		"an entry of 0":          {func(c chain) chain { c.forget(0); return c }, "7 baseless"},
		"a forgetting forgotten": {func(c chain) chain { c.forget(4); return c }, "7 baseless"},
		"a number far away":      {func(c chain) chain { c[5].N = math.MaxInt64; return c }, fmt.Sprintf("%d gap", int64(math.MaxInt64))},
	} {
		flaws, report := verified(t, audit.Verifier{}, tt.alter(six()), api.AuditUnchained{})
		if flaws != tt.flaws {
			t.Errorf("%s: %q, want %q", name, flaws, tt.flaws)
		}
		if name == "whole" && report != (audit.Report{Entries: 6, Answers: 4, Receipts: 2, Forgotten: 2, Head: audit.Head{N: 6, Link: six()[5].Link}}) {
			t.Errorf("the report of a whole chain: %+v", report)
		}
	}
}

// firstReceipt is the receipt of an entry before it was forgotten.
func firstReceipt(n int) *api.AuditReceipt {
	var c chain
	for range n {
		c.answer()
	}
	return c[n-1].Receipt
}

// TestCommitment: it changes with each part of a receipt, and with nothing else.
func TestCommitment(t *testing.T) {
	t.Parallel()
	same := *firstReceipt(1)
	for name, alter := range map[string]func(r *api.AuditReceipt){
		"salt": func(r *api.AuditReceipt) { r.Salt = "0" }, "session": func(r *api.AuditReceipt) { r.Session = "sess_2" },
		"call": func(r *api.AuditReceipt) { r.Call = "tc_2" }, "question": func(r *api.AuditReceipt) { r.Question = 2 },
		"decision": func(r *api.AuditReceipt) { r.Decision = "reject" }, "by": func(r *api.AuditReceipt) { r.By = "eve" },
		"surface": func(r *api.AuditReceipt) { r.Surface = "" }, "at": func(r *api.AuditReceipt) { r.At = r.At.Add(time.Microsecond) },
		"shown": func(r *api.AuditReceipt) { r.Shown = "5f" }, "language": func(r *api.AuditReceipt) { r.Language = "de" },
		"what stands in which part": func(r *api.AuditReceipt) { r.By, r.Surface = "adap", "age" },
	} {
		r := same
		alter(&r)
		if audit.Commitment(r) == audit.Commitment(same) {
			t.Errorf("%s: the commitment is the same", name)
		}
	}
	r := same
	r.At = r.At.In(time.FixedZone("elsewhere", 3600)).Add(time.Nanosecond)
	if audit.Commitment(r) != audit.Commitment(same) {
		t.Error("the commitment depends on how a time is written")
	}
}

// TestKnownHead: a head that was noted earlier is found, or what has become of it is told.
func TestKnownHead(t *testing.T) {
	t.Parallel()
	fourth := audit.Head{N: 4, Link: six()[3].Link}
	for name, tt := range map[string]struct {
		chain chain
		flaws string
	}{
		"whole":        {six(), ""},
		"gone on":      {six()[:4], "1 missing"},
		"cut off":      {six()[:3], "1 missing, 2 missing, 4 cut"},
		"nothing left": {nil, "4 cut"},
		"made again":   {altered(six()).relinked(), "4 rewritten"},
		"taken out":    {slices.Delete(six(), 3, 4), "5 gap, 2 missing, 4 unreachable"},
	} {
		if flaws, _ := verified(t, audit.Verifier{Known: fourth}, tt.chain, api.AuditUnchained{}); flaws != tt.flaws {
			t.Errorf("%s: %q, want %q", name, flaws, tt.flaws)
		}
	}
}

// altered is a forgery that the chain by itself cannot tell: a receipt with a commitment of its
// own.
func altered(c chain) chain {
	r := *c[2].Receipt
	r.Decision = "reject"
	c[2].Receipt, c[2].Commitment = &r, audit.Commitment(r)
	return c
}

// TestWhileTheLedgerGoesOn: a receipt that was there on an early page, and is forgotten by an
// entry from behind the beginning of the reading, is not a flaw.
func TestWhileTheLedgerGoesOn(t *testing.T) {
	t.Parallel()
	for started, want := range map[int64]string{0: "1 still", 5: "", 6: "1 still"} {
		c := six()
		c[0].Receipt = firstReceipt(1)
		if flaws, _ := verified(t, audit.Verifier{Started: started}, c, api.AuditUnchained{}); flaws != want {
			t.Errorf("read from %d on: %q, want %q", started, flaws, want)
		}
	}
}

// TestUnchainedReceipts: what is older than the chain is counted, as far as the chain says that there was so much;
// others are a flaw.
func TestUnchainedReceipts(t *testing.T) {
	t.Parallel()
	noted := func(counts ...string) chain {
		var c chain
		for i := 0; i < len(counts); i += 2 {
			a := api.AuditAct{Act: api.ActOlder, Subject: counts[i], Detail: counts[i+1], Salt: "s"}
			c.add(api.AuditEntry{Kind: audit.Act, Commitment: audit.ActCommitment(a), Act: &a})
		}
		return c
	}
	forgotten := noted(api.OlderReceipts, "3")
	forgotten[0].Act = nil
	forgotten.forget(1)
	for name, tt := range map[string]struct {
		chain  chain
		beside api.AuditUnchained
		flaws  string
	}{
		"none":               {six(), api.AuditUnchained{}, ""},
		"older":              {noted(api.OlderReceipts, "3", api.OlderStarts, "2"), api.AuditUnchained{Older: 3, Starts: 2}, ""},
		"fewer are left":     {noted(api.OlderReceipts, "3"), api.AuditUnchained{Older: 1}, ""},
		"not older":          {noted(api.OlderReceipts, "3"), api.AuditUnchained{Older: 3, Later: 1}, "0 unchained"},
		"one too many":       {noted(api.OlderReceipts, "3"), api.AuditUnchained{Older: 4}, "0 unchained"},
		"a start too many":   {noted(api.OlderReceipts, "3", api.OlderStarts, "2"), api.AuditUnchained{Starts: 3}, "0 unchained"},
		"none was there":     {noted(), api.AuditUnchained{Older: 1}, "0 unchained"},
		"it was forgotten":   {forgotten, api.AuditUnchained{Older: 9}, ""},
		"said twice":         {noted(api.OlderReceipts, "3", api.OlderReceipts, "4"), api.AuditUnchained{Older: 3}, "2 repeat"},
		"the same twice":     {noted(api.OlderReceipts, "3", api.OlderReceipts, "3"), api.AuditUnchained{Older: 3}, ""},
		"said in some words": {noted(api.OlderReceipts, "many"), api.AuditUnchained{}, "1 repeat"},
	} {
		flaws, report := verified(t, audit.Verifier{}, tt.chain, tt.beside)
		if flaws != tt.flaws || report.Older != tt.beside.Older || report.OlderStarts != tt.beside.Starts {
			t.Errorf("%s: %q, want %q: %+v", name, flaws, tt.flaws, report)
		}
	}
}

// TestLedger: all parts are asked for, and entries that have no business to be there are read, too.
func TestLedger(t *testing.T) {
	t.Parallel()
	c := six()
	below := c[0]
	below.N = -4
	all := slices.Concat(chain{below}, c)
	var asked []string
	var flaws []audit.Flaw
	v := audit.Verifier{Found: func(f audit.Finding) { flaws = append(flaws, f.Flaw) }}
	report, err := v.Ledger(func(q api.AuditRequest) (api.AuditAnswer, error) {
		switch {
		case q.Head:
			asked = append(asked, "head")
			return api.AuditAnswer{Entries: c[5:], Unchained: api.AuditUnchained{Later: 1}}, nil
		case q.Calls:
			asked = append(asked, "calls after "+q.AfterCall)
			return api.AuditAnswer{Calls: []api.AuditCall{{Call: "tc_1", Unrecorded: true}}, More: q.AfterCall == ""}, nil
		case q.Standing:
			asked = append(asked, "standing")
			return api.AuditAnswer{Standing: []api.AuditStanding{{Kind: api.ActToken, Subject: "phone", Recorded: "listener"}}}, nil
		}
		i := slices.IndexFunc(all, func(e api.AuditEntry) bool { return e.N > q.After })
		asked = append(asked, fmt.Sprintf("%d entries", len(all)-max(i, 0)))
		return api.AuditAnswer{Entries: all[i : i+1], More: i+1 < len(all)}, nil
	})
	want := []audit.Flaw{audit.Repeat, audit.Gap, audit.Unrecorded, audit.Standing, audit.Missing, audit.Unchained}
	if err != nil || report.Entries != 7 || v.Started != 6 || !slices.Equal(slices.Compact(flaws), want) {
		t.Errorf("%+v, %v, started %d, flaws %q, want %q", report, err, v.Started, flaws, want)
	}
	if got := strings.Join(asked, ", "); got != "head, 7 entries, 6 entries, 5 entries, 4 entries, 3 entries, 2 entries, 1 entries, calls after , calls after tc_1, standing" {
		t.Errorf("asked for %s", got)
	}
	for n := range 4 { // whichever part fails, that is told
		gone := errors.New("gone")
		v := audit.Verifier{}
		if _, err := v.Ledger(func(api.AuditRequest) (api.AuditAnswer, error) {
			if n--; n < 0 {
				return api.AuditAnswer{}, gone
			}
			return api.AuditAnswer{}, nil
		}); !errors.Is(err, gone) {
			t.Errorf("got %v", err)
		}
	}
}

// TestDone: what the ledger keeps of a call is held against its start, its outcome and its late result.
func TestDone(t *testing.T) {
	t.Parallel()
	whole := api.AuditDone{Turn: api.AuditTurnWhole, Class: "idempotent", Consent: "c", Allowed: "c", Fence: 1, Granted: true, Status: "success", Result: "r", DocumentStatus: "success"}
	start := api.AuditAct{Act: api.ActStart, Session: "sess_1", Call: "tc_1", Fence: 1, Detail: "idempotent", Digest: "c", Salt: "s"}
	outcome := api.AuditAct{Act: api.ActOutcome, Session: "sess_1", Call: "tc_1", Fence: 1, Detail: "success", Digest: "r", Salt: "s"}
	late, lost := outcome, outcome
	late.Act, lost.Fence = api.ActLate, 0
	for name, tt := range map[string]struct {
		act   api.AuditAct
		alter func(*api.AuditDone)
		flaws string
	}{
		"a start":                      {start, func(*api.AuditDone) {}, ""},
		"an outcome":                   {outcome, func(*api.AuditDone) {}, ""},
		"a late result":                {late, func(*api.AuditDone) {}, ""},
		"its start was lost":           {lost, func(d *api.AuditDone) { d.Granted, d.Fence = false, 0 }, ""},
		"started again":                {start, func(d *api.AuditDone) { d.Fence, d.Class = 2, "read" }, ""},
		"no start":                     {start, func(d *api.AuditDone) { d.Granted = false }, "1 ungranted"},
		"started again after its end":  {outcome, func(d *api.AuditDone) { d.Fence = 2 }, "1 ungranted"},
		"another class":                {start, func(d *api.AuditDone) { d.Class = "read" }, "1 class"},
		"another consent":              {start, func(d *api.AuditDone) { d.Consent = "e" }, "1 bound"},
		"other arguments":              {start, func(d *api.AuditDone) { d.Allowed = "e" }, "1 bound"},
		"no arguments":                 {start, func(d *api.AuditDone) { d.Allowed = "" }, "1 bound"},
		"somebody was asked":           {start, func(d *api.AuditDone) { d.Agreed, d.Allowed = true, "" }, ""},
		"a start, and erased":          {start, func(d *api.AuditDone) { d.Turn, d.Allowed = api.AuditTurnErased, "" }, ""},
		"another outcome":              {outcome, func(d *api.AuditDone) { d.Status = "failed" }, "1 outcome"},
		"another outcome is told":      {outcome, func(d *api.AuditDone) { d.DocumentStatus = "failed" }, "1 outcome"},
		"another result":               {outcome, func(d *api.AuditDone) { d.Result = "" }, "1 outcome"},
		"another late result":          {late, func(d *api.AuditDone) { d.Result = "" }, "1 outcome"},
		"erased":                       {outcome, func(d *api.AuditDone) { d.Turn, d.Result, d.DocumentStatus = api.AuditTurnErased, "", "" }, ""},
		"late, and erased":             {late, func(d *api.AuditDone) { d.Turn, d.Result, d.DocumentStatus = api.AuditTurnErased, "", "" }, ""},
		"imported, and yet begun here": {start, func(d *api.AuditDone) { d.Turn = api.AuditTurnImported }, "1 orphaned"},
		"no turn":                      {start, func(d *api.AuditDone) { *d = api.AuditDone{Turn: api.AuditTurnMissing} }, "1 orphaned"},
	} {
		d := whole
		tt.alter(&d)
		var c chain
		c.add(api.AuditEntry{Kind: audit.Act, Commitment: audit.ActCommitment(tt.act), Act: &tt.act, Done: &d})
		if flaws, report := verified(t, audit.Verifier{}, c, api.AuditUnchained{}); flaws != tt.flaws || report.Compared != 1 {
			t.Errorf("%s: %q, want %q (%+v)", name, flaws, tt.flaws, report)
		}
	}
}

// TestManyAnswers: the fates of answers are told apart over the borders of what they are kept in.
func TestManyAnswers(t *testing.T) {
	t.Parallel()
	const many = 3 * (1 << 12)
	var c chain
	for range many {
		c.answer()
	}
	for n := int64(1); n <= many; n += 2 {
		c.forget(n)
	}
	c[4095].Receipt, c[8191].Receipt = nil, nil
	if flaws, report := verified(t, audit.Verifier{}, c, api.AuditUnchained{}); flaws != "4096 missing, 8192 missing" || report.Forgotten != many/2 {
		t.Errorf("%q, %+v", flaws, report)
	}
}

func TestReadFails(t *testing.T) {
	t.Parallel()
	want := errors.New("gone")
	v := audit.Verifier{}
	if err := v.Read(func(int64) (api.AuditAnswer, error) { return api.AuditAnswer{}, want }); !errors.Is(err, want) {
		t.Errorf("got %v", err)
	}
}
