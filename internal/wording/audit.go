package wording

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/api/audit"
	"github.com/earshot-dev/earshot/internal/cause"
)

// Entry says what an entry of the audit chain is about, without its end.
func Entry(e api.AuditEntry) string {
	switch {
	case e.Kind == audit.Forgotten:
		return "what entry " + strconv.FormatInt(e.Of, 10) + " said was dropped after its time"
	case e.Receipt != nil && e.Receipt.Decision == api.DecidedByNobody:
		return NobodyCouldAnswer(e.Receipt.Question) + ". Call " + e.Receipt.Call
	case e.Receipt != nil:
		r := e.Receipt
		return fmt.Sprintf("%s answered question %d: %s, on %s. Call %s", cmp.Or(r.By, "nobody"), r.Question, r.Decision, cmp.Or(r.Surface, "no surface"), r.Call)
	case e.Act != nil:
		return actText(*e.Act)
	}
	return "what it said was dropped after its time"
}

// NobodyCouldAnswer says what the receipt of such a question records, without its end.
func NobodyCouldAnswer(question int) string {
	return fmt.Sprintf("nobody was there who could answer question %d, so that its default held", question)
}

// actText is an act in one sentence.
func actText(a api.AuditAct) string {
	by := ""
	if a.By != "" {
		by = " by " + a.By
	}
	switch a.Act {
	case api.ActStart:
		return fmt.Sprintf("the call %s was started%s, class %s", a.Call, by, a.Detail)
	case api.ActOutcome:
		return fmt.Sprintf("the call %s ended: %s", a.Call, a.Detail)
	case api.ActLate:
		return fmt.Sprintf("the call %s had ended after all: %s", a.Call, a.Detail)
	case api.ActPermission:
		return fmt.Sprintf("standing permission %s%s: %s", a.Subject, by, a.Detail)
	case api.ActReview:
		return fmt.Sprintf("the tool %s was reviewed%s: %s", a.Subject, by, a.Detail)
	case api.ActRemove:
		return fmt.Sprintf("the tool %s was removed%s", a.Subject, by)
	case api.ActErase:
		return fmt.Sprintf("the content of %s was erased%s", a.Subject, by)
	case api.ActImport:
		return fmt.Sprintf("%s was imported%s", a.Subject, by)
	case api.ActRestore:
		return "the ledger was restored: " + a.Detail
	case api.ActOlder:
		return fmt.Sprintf("older than the chain, which does not cover it: %s %s", a.Detail, a.Subject)
	case api.ActPolicy:
		if a.Detail == api.ActEnded {
			return "no policy file is in force any more"
		}
		return fmt.Sprintf("the policy in force: %s, SHA-256 %.16s…", a.Detail, a.Digest)
	case api.ActLogin:
		return fmt.Sprintf("login %s of %s: %s", a.Subject, a.By, cmp.Or(a.Detail, "a browser that does not say its name"))
	case api.ActPasskey:
		return kept(a, by, fmt.Sprintf("the passkey %.16s…", a.Subject))
	case api.ActAgent:
		if a.Detail == api.ActEnded {
			return fmt.Sprintf("the definition of the agent %s was removed%s", a.Subject, by)
		}
		return fmt.Sprintf("the agent %s was defined%s: %s", a.Subject, by, a.Detail)
	case api.ActProject:
		return kept(a, by, "the project "+a.Subject)
	case api.ActToken, api.ActCredential:
		return fmt.Sprintf("%s %s: %s", a.Act, a.Subject, strings.TrimSuffix(cmp.Or(a.Detail, "in force"), "."))
	}
	return fmt.Sprintf("%s %s: %s", a.Act, a.Subject, a.Detail) // of a newer program
}

// kept says that something is kept from now on, or not any more.
func kept(a api.AuditAct, by, what string) string {
	if a.Detail == api.ActEnded {
		return what + " was removed" + by
	}
	return fmt.Sprintf("%s was added%s: %s", what, by, a.Detail)
}

// Finding is what a verification found in a line.
func Finding(f audit.Finding) legible.Sentence {
	found, means, do := f.Found.Map(cause.OneLine), f.Means.Map(cause.OneLine), f.Do.Map(cause.OneLine)
	if f.N == 0 {
		return legible.NewSentence("Beside the chain: %s. It means: %s. What to do: %s.", found, means, do)
	}
	return legible.NewSentence("Entry %d: %s. It means: %s. What to do: %s.", f.N, found, means, do)
}

// Report says what a verification came to; known is the head that it had to find. Findings are said by [Finding].
func Report(r audit.Report, known audit.Head) []legible.Sentence {
	grouped := func(n int64) legible.Sentence { return legible.NewSentence(legible.Grouped(n)) }
	lines := []legible.Sentence{legible.NewSentence("Answers: %s. Starts, outcomes and changes by operators: %s.", grouped(r.Answers), grouped(r.Acts))}
	for _, part := range []struct {
		n    int64
		text string
	}{
		{r.Forgotten, "Dropped after their time: %s."},
		{r.Compared, "Compared with what the ledger keeps of calls, questions, consents and results: %s."},
		{r.Signed, "Accepts signed by passkeys, each with a valid signature: %s."},
		{r.Older, "Receipts from before the chain, which it does not cover: %s."},
		{r.OlderStarts, "Starts from before the chain had entries of starts: %s."},
	} {
		if part.n > 0 {
			lines = append(lines, legible.NewSentence(part.text, grouped(part.n)))
		}
	}
	if r.Head.N > 0 {
		lines = append(lines, legible.NewSentence("Head: %s", r.Head.String()))
	}
	switch {
	case r.Findings > 0:
	case known.N > 0:
		lines = append(lines, legible.NewSentence("The chain is whole, and the head that was noted is in it."))
	default:
		lines = append(lines, legible.NewSentence("The chain is whole."))
	}
	return lines
}
