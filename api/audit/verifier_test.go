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

// relinked makes all links anew, as somebody who may write to the database can.
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
		if f.Found == "" || f.Means == "" || f.Do == "" {
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
		"made anew":    {altered(six()).relinked(), "4 rewritten"},
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
// entry from behind the beginning of the reading, is no flaw.
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

// TestUnchainedReceipts: older ones are counted, others are a flaw.
func TestUnchainedReceipts(t *testing.T) {
	t.Parallel()
	flaws, report := verified(t, audit.Verifier{}, six(), api.AuditUnchained{Older: 3})
	if flaws != "" || report.Older != 3 {
		t.Errorf("%q, %+v", flaws, report)
	}
	if flaws, _ = verified(t, audit.Verifier{}, six(), api.AuditUnchained{Older: 3, Later: 1}); flaws != "0 unchained" {
		t.Errorf("%q", flaws)
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
