package replies

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel/consent"
	"github.com/earshot-dev/earshot/internal/kernel/store"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// NotAccepted returns what our own surfaces tell a person whose answer did not count. A subscriber of
// the protocol is told nothing of it (CONF-56).
func NotAccepted(q consent.Question, why consent.Reason) error {
	label := "question " + strconv.Itoa(q.Number)
	switch {
	case q.State != consent.Open:
		return closed(q)
	case why == consent.TooLate:
		q.State = consent.Expired
		q.Resolution = consent.Resolution{How: consent.ByTimeout, At: q.Deadline()}
		return closed(q)
	case why == consent.NoToken:
		return api.NewFault(utp.CodeConflict, label+" has been asked again since it was answered; nothing was recorded; read it again, then answer with its reply_token")
	case why == consent.NoMoreTime:
		return api.NewFault(utp.CodeConflict, "no more time can be given: "+label+" stays open for as long as a question can, until "+clockTime(q.Deadline()))
	default:
		return api.NewFault(utp.CodeBadRequest, label+" is still open; it expects "+expected(q)+"; nothing was recorded")
	}
}

// expected describes the answers that a question accepts.
func expected(q consent.Question) string {
	var ways []string
	for _, d := range q.AllowedReplies {
		ways = append(ways, string(d))
	}
	for _, kind := range q.ResponseKinds {
		switch kind {
		case consent.MultipleChoice:
			ways = append(ways, "one of its choices ("+choices(q)+")")
		case consent.YesNo:
			ways = append(ways, "yes or no")
		case consent.Numeric:
			ways = append(ways, "a number, such as 12 or 3.5")
		case consent.FreeText:
			ways = append(ways, "a text")
		}
	}
	if len(ways) == 0 {
		return "another answer"
	}
	return strings.Join(ways, " or ")
}

// choices lists the values of the choices, the first ones if there are many.
func choices(q consent.Question) string {
	const most = 8
	var values []string
	for i, c := range q.Choices {
		if i == most {
			values = append(values, fmt.Sprintf("and %d more", len(q.Choices)-most))
			break
		}
		values = append(values, c.Value)
	}
	return strings.Join(values, ", ")
}

// TooLateToUndo returns the fault for a no that comes after the undo time: whose yes it was and, while
// the turn goes on, what can still be done.
func TooLateToUndo(q consent.Question, err error) error {
	refused, is := errors.AsType[*turn.Error](err)
	if !is {
		return err
	}
	told := closed(q)
	if refused.Code == utp.CodeDone {
		told.Message, told.Closed = told.Message+": "+refused.Message, nil
	}
	return told
}

// closed describes how a question ended, by whom and where.
func closed(q consent.Question) *api.Fault {
	end := &api.Closed{
		Question: q.Number, Resolution: string(q.State), By: q.Resolution.By, Surface: q.Resolution.Surface, At: q.Resolution.At,
	}
	label := "question " + strconv.Itoa(q.Number)
	message := fmt.Sprintf("%s was %s at %s; this came after it and did not count", label, q.State, clockTime(end.At))
	switch {
	case q.Resolution.How == consent.ByTimeout:
		end.At = q.Deadline()
		message = fmt.Sprintf("too late: the time to answer %s ended at %s; nothing was done", label, clockTime(end.At))
	case q.Resolution.How == consent.ByReply && end.By != "" && end.Surface != "":
		message = fmt.Sprintf("%s was %s by %q at %q at %s; this came after it and did not count", label, q.State, end.By, end.Surface, clockTime(end.At))
	case q.Resolution.How == consent.ByReply && end.By != "":
		message = fmt.Sprintf("%s was %s by %q at %s; this came after it and did not count", label, q.State, end.By, clockTime(end.At))
	}
	return &api.Fault{Code: utp.CodeDone, Message: message, Retry: utp.CodeDone.SafeToRetry(), Closed: end}
}

// clockTime formats a time for a message; surfaces get the time itself as well.
func clockTime(at time.Time) string { return at.UTC().Format("15:04:05") + " UTC" }

// Unnamed explains why a reply names no live question: its number and token belong to different
// questions, its token has been replaced, or there is no such question. Only people whom the question
// concerns are told more.
func Unnamed(tx store.Tx, rec *store.Record, r api.ReplyRequest, concerned bool) error {
	if concerned {
		if err := Mismatch(tx, rec, r); err != nil {
			return err
		}
		for _, q := range rec.Questions {
			if r.Token == "" || !slices.Contains(q.SpentTokens, r.Token) {
				continue
			}
			if q.State != consent.Open {
				return closed(q)
			}
			return api.NewFault(utp.CodeDone, "question "+strconv.Itoa(q.Number)+" has been asked again since; look at it as it is now, then answer")
		}
	}
	if r.Token != "" {
		return api.NewFault(utp.CodeNotFound, "no open question has that reply token")
	}
	return api.NewFault(utp.CodeNotFound, "no open question has that number")
}

// Mismatch refuses a request whose number and token belong to different questions. It is not known which
// of the two the person read, so the request counts for neither.
func Mismatch(tx store.Tx, rec *store.Record, r api.ReplyRequest) error {
	if r.Token == "" || r.Question == 0 {
		return nil
	}
	refused := api.NewFault(utp.CodeConflict, fmt.Sprintf(
		"the reply token does not belong to question %d; nothing was changed; read question %[1]d again, then answer it", r.Question))
	for _, q := range rec.Questions {
		carries, named := q.Token == r.Token || slices.Contains(q.SpentTokens, r.Token), q.Number == r.Question
		if carries != named {
			return refused
		}
		if named {
			return nil
		}
	}
	other, err := tx.Turn(store.TurnRef{Question: r.Question})
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil
	case err != nil:
		return err
	case other.State.Turn != rec.State.Turn:
		return refused
	}
	return nil
}
