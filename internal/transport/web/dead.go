package web

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/operate"
	"github.com/earshot-dev/earshot/internal/surface/page"
	"github.com/earshot-dev/earshot/internal/wording"
)

// timeInLists is how lists of operators write a time.
const timeInLists = "2 January 2006, 15:04"

// deadPage lists the messages that were put aside, the oldest first.
func (s *Server) deadPage(w http.ResponseWriter, r *http.Request, v visitor) error {
	wanted, err := query(r)
	if err != nil {
		return err
	}
	after, err := number(r, "after")
	if err != nil {
		return err
	}
	view := page.Dead{Navigation: s.navigation(v), Search: page.Search{Path: "/dead", Label: "Search in the messages", Query: wanted}, First: after == 0, Form: s.formOf(v)}
	err = operate.EachDead(r.Context(), s.asks(v), func(one api.DeadDetail) error {
		text := legible.Line(wording.Dead(one, one.Died.In(v.zone).Format(timeInLists)))
		switch {
		case one.ID <= after || !holds(wanted, text):
		case len(view.Rows) == rowsPerPage:
			view.Search.Next = view.Search.Further("after", strconv.FormatInt(view.Rows[rowsPerPage-1].Number, 10))
			return errEnough
		default:
			view.Rows = append(view.Rows, page.DeadMessage{Number: one.ID, Text: text, Command: one.Call != ""})
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return err
	}
	view.Notice = s.noticeOf(r, v)
	return s.show(w, r, http.StatusOK, "dead", view)
}

// formOf is the token of forms that change what operators decide; "" for a visitor who may not, or is not on the page.
func (s *Server) formOf(v visitor) string {
	if v.May(api.Operate) {
		return v.form
	}
	return ""
}

// retryForm tries a message again. The call of a command is asked for again, as any other is.
func (s *Server) retryForm(w http.ResponseWriter, r *http.Request, v visitor) error {
	n, err := pathNumber(r, "the message", "/dead")
	if err != nil {
		return err
	}
	var a api.RetryAnswer
	if err := s.asks(v)(r.Context(), api.OpRetry, api.RetryRequest{ID: int64(n), Owner: v.Name}, &a); err != nil {
		return err
	}
	text := fmt.Sprintf("Recorded: message %d is sent again.", n)
	if !a.Sent {
		text = fmt.Sprintf("Recorded: the call of message %d is asked for again, in %s. Where it needs consent, its question is on the page.", n, legible.Text(a.Session))
	}
	s.backTo(w, r, v, "/dead#notice", page.Notice{Text: text})
	return nil
}
