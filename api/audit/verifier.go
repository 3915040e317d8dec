package audit

import (
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/api"
)

// Head identifies an entry by its number and its link. Someone who notes the newest head elsewhere can prove later that
// everything up to it is unchanged.
type Head struct {
	N    int64  `json:"n"`
	Link string `json:"link"`
}

// Flaw names what is wrong with a chain.
type Flaw string

// The flaws.
const (
	Gap         Flaw = "gap"          // a number is missing
	Repeat      Flaw = "repeat"       // a number is repeated, or follows a larger one
	Unknown     Flaw = "unknown"      // an entry of unknown kind
	Broken      Flaw = "broken"       // a link does not follow from the previous one
	Altered     Flaw = "altered"      // a receipt does not match its commitment
	Missing     Flaw = "missing"      // a receipt or an act is missing, and no entry says that it was forgotten
	Baseless    Flaw = "baseless"     // something was forgotten that is neither an answer nor an act before it
	Again       Flaw = "again"        // a receipt or an act was forgotten twice
	Still       Flaw = "still"        // a receipt or an act that was forgotten still exists
	Misplaced   Flaw = "out-of-place" // a receipt belongs to an entry that is not an answer, or an act to one that is not an act
	Unchained   Flaw = "unchained"    // receipts have no entry, and are not older than the chain
	Cut         Flaw = "cut"          // the chain ends before the noted head
	Rewritten   Flaw = "rewritten"    // the entry of the noted head has another link
	Unreachable Flaw = "unreachable"  // the entry of the noted head is not in the chain
)

// Finding is one flaw: where it is, what was found, what that means and what to do, each a part of a sentence. N is 0 if
// it does not belong to a single entry.
type Finding struct {
	N     int64            `json:"n,omitzero"`
	Flaw  Flaw             `json:"flaw"`
	Found legible.Sentence `json:"found"`
	Means legible.Sentence `json:"means"`
	Do    legible.Sentence `json:"do"`
}

// Report summarises what was read.
type Report struct {
	Entries   int64 `json:"entries"`
	Answers   int64 `json:"answers"`
	Receipts  int64 `json:"receipts"`  // of the answers; only those that still exist
	Acts      int64 `json:"acts"`      // starts, outcomes, and what operators have done
	Forgotten int64 `json:"forgotten"` // receipts and acts that retention has deleted
	// Older counts receipts from before the chain, and OlderStarts starts from before it had entries of starts: they
	// cannot be verified.
	Older       int64 `json:"older"`
	OlderStarts int64 `json:"older_starts"`
	// Compared counts the receipts and acts that were compared with what the ledger stores about their calls.
	Compared int64 `json:"compared"`
	// Signed counts the accepts that a passkey has signed, and whose signature is valid.
	Signed   int64 `json:"signed,omitzero"`
	Findings int64 `json:"findings"`
	Head     Head  `json:"head"` // the last entry; the zero value for an empty chain
}

// Verifier reads a chain from its first entry to its last and reports what is wrong with it. It does not stop at a
// flaw: it continues from what the entry itself says. It stores two bits for each entry that it has read, and does not
// store findings.
type Verifier struct {
	// Found is called for each flaw as it is found. Default: flaws are only counted.
	Found func(Finding)
	// Known is the head that was noted earlier; N is 0 if there is none.
	Known Head
	// Started is the number of the newest entry when reading began. If the chain is read in pages while the ledger
	// grows, a receipt may exist on one page, and a later page may say that it was forgotten. That is not a flaw if the
	// entry that says so comes after Started. Use 0 for a chain that is read at one instant.
	Started int64

	report   Report
	kinds    fates
	noted    map[string]int64  // how many items are older than the chain, according to an act
	passkeys map[string]string // the digests of the passkeys that count at this entry, by their ids
	lostActs bool              // an act before this entry is no longer there
	met      bool              // whether the known head was found
	hurtHere bool              // whether there is a gap or a repeat between this entry and the previous one
}

// Next verifies the next entry.
func (v *Verifier) Next(e api.AuditEntry) {
	v.place(e)
	if link := Link(v.report.Head.Link, e); link != e.Link && !v.hurtHere {
		v.find(e.N, Broken, part("the link %s, where %s follows from entry %d", abbreviated(e.Link), abbreviated(link), v.report.Head.N),
			part("this entry or the one before it was altered, or one was put in between"), askOthers())
	}
	v.report.Entries++
	v.report.Head = Head{N: e.N, Link: e.Link}
	known := e.Kind == Answer || e.Kind == Act || e.Kind == Forgotten
	if known && (e.Receipt != nil && e.Kind != Answer || e.Act != nil && e.Kind != Act) {
		v.find(e.N, Misplaced, part("a receipt or an act at an entry of the kind %s", quoted(e.Kind, shortest)), part("it was moved from its own entry"), askOthers())
	}
	switch e.Kind {
	case Answer:
		v.answer(e)
	case Act:
		v.act(e)
	case Forgotten:
		v.forgotten(e)
	default:
		v.find(e.N, Unknown, part("an entry of the kind %s", quoted(e.Kind, shortest)), part("a newer program wrote it, or it was altered"),
			part("verify with the program that the server runs"))
	}
	v.compare(e)
}

// Ledger verifies a whole ledger: its chain, what it stores about the chain's calls, and what is in force. It calls ask
// for each part, as often as necessary; see [api.AuditRequest].
func (v *Verifier) Ledger(ask func(api.AuditRequest) (api.AuditAnswer, error)) (Report, error) {
	newest, err := ask(api.AuditRequest{Head: true})
	if err != nil {
		return Report{}, err
	}
	for _, e := range newest.Entries {
		v.Started = e.N
	}
	if err := v.Read(func(after int64) (api.AuditAnswer, error) { return ask(api.AuditRequest{After: after}) }); err != nil {
		return Report{}, err
	}
	err = v.Calls(func(after string) (api.AuditAnswer, error) {
		return ask(api.AuditRequest{Calls: true, AfterCall: after})
	})
	if err != nil {
		return Report{}, err
	}
	standing, err := ask(api.AuditRequest{Standing: true})
	for _, s := range standing.Standing {
		v.find(0, Standing, part("%s %s is %s, and %s was recorded last", s.Kind, quoted(s.Subject, longest), orElse(s.Found, `"not there"`), orElse(s.Recorded, `"nothing"`)),
			part("it was changed by something else than this program"), askOthers())
	}
	return v.End(newest.Unchained), err
}

// Read verifies all entries. It calls page with the number of the last entry so far, to get those that follow, in
// order.
func (v *Verifier) Read(page func(after int64) (api.AuditAnswer, error)) error {
	for after := int64(math.MinInt64); ; { // include forged entries with invalid numbers
		a, err := page(after)
		if err != nil {
			return err
		}
		for _, e := range a.Entries {
			v.Next(e)
			after = e.N
		}
		if !a.More || len(a.Entries) == 0 {
			return nil
		}
	}
}

func askOthers() legible.Sentence {
	return part("keep the ledger as it is, and compare it with a backup from before")
}

// place checks the number of an entry. If it is out of place, its link cannot be checked.
func (v *Verifier) place(e api.AuditEntry) {
	last := v.report.Head.N
	v.hurtHere = e.N != last+1
	switch {
	case e.N > last+1:
		v.find(e.N, Gap, part("entry %d behind entry %d", e.N, last), part("%d of the entries between them are gone", e.N-last-1), askOthers())
	case e.N <= last:
		v.find(e.N, Repeat, part("entry %d behind entry %d", e.N, last), part("an entry was added by something else than this program"), askOthers())
	}
}

func (v *Verifier) answer(e api.AuditEntry) {
	v.report.Answers++
	if e.Receipt == nil {
		v.kinds.set(e.N, gone)
		return
	}
	v.report.Receipts++
	v.kinds.set(e.N, there)
	if Commitment(*e.Receipt) != e.Commitment {
		v.find(e.N, Altered, part("a receipt of the call %s that is not the one that was answered", cut(e.Receipt.Call, longest)),
			part("the receipt was altered after the answer, or the entry was"), askOthers())
		return // it proves nothing
	}
	v.signed(e)
	v.kept(e)
}

func (v *Verifier) forgotten(e api.AuditEntry) {
	v.report.Forgotten++
	before := none
	if e.Of < e.N {
		before = v.kinds.of(e.Of)
	}
	switch before {
	case none:
		v.find(e.N, Baseless, part("entry %d is said to be forgotten", e.Of), part("no answer and no act with that number was read before"), askOthers())
		return
	case over:
		v.find(e.N, Again, part("entry %d is said to be forgotten a second time", e.Of), part("an entry was added by something else than this program"), askOthers())
	case there:
		if v.Started == 0 || e.N <= v.Started {
			v.find(e.Of, Still, part("what entry %d says was forgotten", e.N), part("it should be gone and was put back, or it was never removed"),
				part("see whether part of a backup was brought back, and remove it if so"))
		}
	case gone:
	}
	v.kinds.set(e.Of, over)
}

// compare compares an entry with the noted head.
func (v *Verifier) compare(e api.AuditEntry) {
	if v.Known.N == 0 || e.N != v.Known.N {
		return
	}
	v.met = true
	if e.Link != v.Known.Link {
		v.find(e.N, Rewritten, part("the link %s, where %s was noted", abbreviated(e.Link), abbreviated(v.Known.Link)),
			part("the chain up to here was made again since, or this is another ledger"), askOthers())
	}
}

// End reports the flaws that only show at the end, and returns what was read. Unchained is the ledger's count of
// receipts without an entry.
func (v *Verifier) End(unchained api.AuditUnchained) Report {
	for n := range v.kinds.gone {
		v.find(n, Missing, part("nothing is kept of this answer or act, and no entry says that it was forgotten"), part("it was removed by something else than retention"), askOthers())
	}
	if unchained.Later > 0 {
		v.find(0, Unchained, part("receipts that no entry stands for, and that are not older than the chain: %d", unchained.Later),
			part("they were put in by something else than this program, or the end of the chain was cut off"), askOthers())
	}
	v.tooMany(api.OlderReceipts, unchained.Older)
	v.tooMany(api.OlderStarts, unchained.Starts)
	last := v.report.Head.N
	switch {
	case v.Known.N == 0 || v.met:
	case v.Known.N > last:
		v.find(v.Known.N, Cut, part("a chain that ends with entry %d, where %d was noted", last, v.Known.N),
			part("its end was cut off, or the ledger was restored from an older backup"),
			part("see `earshot doctor`, and ask the person who restored it; the answers since are not in this ledger"))
	default:
		v.find(v.Known.N, Unreachable, part("no entry with the number that was noted"), part("it was removed"), askOthers())
	}
	v.report.Older, v.report.OlderStarts = unchained.Older, unchained.Starts
	return v.report
}

// older records how much the chain says is older than it.
func (v *Verifier) older(e api.AuditEntry) {
	if v.noted == nil {
		v.noted = map[string]int64{}
	}
	n, err := strconv.ParseInt(e.Act.Detail, 10, 64)
	if most, twice := v.noted[e.Act.Subject]; twice && n != most || err != nil { // two kernels may have started at the same time
		v.find(e.N, Repeat, part("how many %s are older than the chain, a second time", cut(e.Act.Subject, shortest)), part("it was made to look older"), askOthers())
		return
	}
	v.noted[e.Act.Subject] = n
}

// tooMany reports more items older than the chain than there ever were: retention can only have deleted some. If the
// entry with their number was forgotten in due time, there is nothing to check.
func (v *Verifier) tooMany(what string, n int64) {
	most, known := v.noted[what]
	if n > most && (known || v.report.Forgotten == 0) {
		v.find(0, Unchained, part("%s that are said to be older than the chain: %d, where there were %d", part(what), n, most),
			part("they were put in by something else than this program"), askOthers())
	}
}

func (v *Verifier) find(n int64, flaw Flaw, found, means, do legible.Sentence) {
	v.report.Findings++
	if v.Found != nil {
		v.Found(Finding{N: n, Flaw: flaw, Found: found, Means: means, Do: do})
	}
}

// fate is the state of a receipt or an act.
type fate byte

const (
	none  fate = iota // no answer or act has that number
	there             // the receipt or the act exists
	gone              // it does not exist, and no entry so far says that it was forgotten
	over              // it was forgotten
)

// fates stores the state of all answers and acts, two bits each. The numbers of an altered chain may be far apart, so
// blocks are allocated only for numbers that exist.
type fates struct{ blocks map[int64]*block }

// blockSize is how many states a block holds.
const blockSize, bits = 1 << 12, 2

type block [blockSize * bits / 8]byte

// where returns the first number of a block, the index of the byte in it, and the shift of the bits in that byte.
func where(n int64) (base int64, at, shift int) {
	in := int(n & (blockSize - 1))
	return n &^ (blockSize - 1), in * bits / 8, in * bits % 8
}

func (a *fates) of(n int64) fate {
	base, at, shift := where(n)
	b := a.blocks[base]
	if b == nil {
		return none
	}
	return fate(b[at] >> shift & (1<<bits - 1))
}

func (a *fates) set(n int64, is fate) {
	if a.blocks == nil {
		a.blocks = map[int64]*block{}
	}
	base, at, shift := where(n)
	b := a.blocks[base]
	if b == nil {
		b = new(block)
		a.blocks[base] = b
	}
	b[at] = b[at]&^((1<<bits-1)<<shift) | byte(is)<<shift
}

// gone yields the entries whose receipt or act is missing and was not forgotten, in order.
func (a *fates) gone(yield func(int64) bool) {
	for _, base := range slices.Sorted(maps.Keys(a.blocks)) {
		for n := base; n < base+blockSize; n++ {
			if a.of(n) == gone && !yield(n) {
				return
			}
		}
	}
}
