package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/earshot-dev/earshot/aaep/legible"
	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/surface/page"
)

// togetherPage shows the questions that wait for a plain yes or no, each in full, and one form that answers them.
func (s *Server) togetherPage(w http.ResponseWriter, r *http.Request, v visitor) error {
	listed, err := s.hub.Questions(r.Context(), v.Principal, QuestionListOptions{Limit: page.MostTogether, Peek: isHead(r), Language: s.language(v)})
	if err != nil {
		return err
	}
	view := page.Together{Form: v.form}
	for _, open := range listed.Questions {
		q := s.ask(open, v)
		if !q.Together() {
			continue
		}
		full := ""
		if q.ReadFirst {
			if full, err = s.inFull(r, v, q.Number); err != nil {
				return err
			}
		}
		view.Items = append(view.Items, page.NewTogetherItem(q, full))
	}
	return s.show(w, r, http.StatusOK, "together", view)
}

// inFull returns the exact text of a question's arguments, which counts as read; "" where they have no room on a page.
func (s *Server) inFull(r *http.Request, v visitor, question int) (string, error) {
	data, size, err := s.hub.Arguments(r.Context(), v.Principal, api.ArgumentsRequest{Question: question, Limit: argumentsPage, Peek: isHead(r)})
	if refusal, is := errors.AsType[*Refusal](err); is && refusal.Kind == api.KindNotFound {
		return "", nil // it was answered meanwhile; the form says so
	}
	if err != nil || int64(len(data)) < size {
		return "", err
	}
	return legible.Source(string(data)), nil
}

// togetherForm answers the ticked questions. Each is answered by itself, with the token of the question that was shown,
// and one that fails holds up no other.
func (s *Server) togetherForm(w http.ResponseWriter, r *http.Request, v visitor) error {
	if err := s.form(w, r); err != nil {
		return err
	}
	if err := v.meant(r); err != nil {
		return err
	}
	replies, err := s.ticked(r)
	if err != nil {
		return err
	}
	if len(replies) == 0 {
		return s.done(w, r, v, page.Notice{Refused: true, Text: "No question was ticked. Nothing was sent."})
	}
	all, accepted := s.replyAll(r, v, replies)
	err = s.done(w, r, v, all)
	for _, one := range accepted {
		s.noticed(w, r, v, one.reply, one.answer)
	}
	return err
}

// ticked reads the answers of the form.
func (s *Server) ticked(r *http.Request) ([]Reply, error) {
	decision := r.PostForm.Get("decision")
	if decision != "accept" && decision != "reject" {
		return nil, refuse(api.KindInvalid, "the form does not say what was decided", "go back and try again")
	}
	numbers := r.PostForm["question"]
	if len(numbers) > page.MostTogether {
		return nil, refuse(api.KindInvalid, fmt.Sprintf("%d questions are ticked, and at most %d are answered together", len(numbers), page.MostTogether), "answer them in several parts")
	}
	replies := make([]Reply, 0, len(numbers))
	for _, text := range numbers {
		number, err := strconv.Atoi(text)
		token := r.PostForm.Get("token-" + text)
		if err != nil || number < 1 || token == "" {
			return nil, refuse(api.KindInvalid, "the form does not say which questions were read", "go back and try again")
		}
		replies = append(replies, Reply{
			Verb: VerbAnswer, Question: number, Token: token, Decision: decision, At: s.now(), Language: r.PostForm.Get("lang-" + text),
		})
	}
	return replies, nil
}

// replied is a reply, and what the ledger holds after it.
type replied struct {
	reply  Reply
	answer api.ReplyAnswer
}

// replyAll answers questions one after the other, and says what became of each.
func (s *Server) replyAll(r *http.Request, v visitor, replies []Reply) (page.Notice, []replied) {
	var all page.Notice
	var recorded []replied
	done := 0
	for _, reply := range replies {
		s.counts.replies.Add(1)
		answer, err := s.hub.Reply(r.Context(), v.Principal, reply)
		row := outcome(reply, answer)
		if err != nil {
			row = s.failedReply(r.Context(), v, reply.Question, err)
		} else {
			recorded = append(recorded, replied{reply, answer})
		}
		if !row.Refused {
			done++
		}
		all.Rows = append(all.Rows, row)
	}
	all.Refused = done < len(replies)
	all.Text = fmt.Sprintf("%d of %d questions are answered as asked.", done, len(replies))
	if !all.Refused {
		all.Text = fmt.Sprintf("All %d questions are answered as asked.", done)
	}
	return all, recorded
}

// failedReply says why one of several answers was not recorded, or that this is not known.
func (s *Server) failedReply(ctx context.Context, v visitor, question int, err error) page.Notice {
	if row, known := s.unsaid(question, err, v.zone); known {
		return row
	}
	s.log.WarnContext(ctx, "one of several answers has failed", "error", err)
	return page.Notice{Refused: true, Text: fmt.Sprintf("Question %d: it is not known whether the answer arrived. See whether it is still open.", question)}
}
