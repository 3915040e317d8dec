package web

import (
	"net/http"
	"reflect"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/earshot-dev/earshot/api"
)

// listQuestions lists open questions, oldest first, 50 or ?limit= of them. If there are more, next in the answer is the
// value of ?after= for the next page. Reply tokens are included only for those who may answer.
func (s *Server) listQuestions(_ http.ResponseWriter, r *http.Request, v visitor) (api.QuestionList, error) {
	want, err := wantedQuestions(r)
	if err != nil {
		return api.QuestionList{}, err
	}
	listed, err := s.hub.Questions(r.Context(), v.Principal, want)
	if err != nil {
		return api.QuestionList{}, err
	}
	list := api.QuestionList{Questions: make([]api.OpenQuestion, 0, len(listed.Questions)), Next: listed.next()}
	for _, q := range listed.Questions {
		if !answers(v.Principal, q) {
			q.Token, q.Event = "", nil // the event contains the token too
		}
		q.SecondsLeft = s.secondsTo(q.Deadline)
		list.Questions = append(list.Questions, q)
	}
	return list, nil
}

// isHead reports whether a request gets no content: what is not sent is not read either.
func isHead(r *http.Request) bool { return r.Method == http.MethodHead }

// onlyPeeks reports whether the request says that nobody is shown what it reads.
func onlyPeeks(r *http.Request) bool { return isHead(r) || r.URL.Query().Get("look") == "true" }

// arguments reads a page of a question's arguments: exactly the text that runs.
func (s *Server) arguments(_ http.ResponseWriter, r *http.Request, v visitor) (api.ArgumentsPart, error) {
	return s.argumentsPart(r, v, 0)
}

func (s *Server) argumentsPart(r *http.Request, v visitor, limit int64) (api.ArgumentsPart, error) {
	question, err := questionNumber(r)
	if err != nil {
		return api.ArgumentsPart{}, err
	}
	offset, err := number(r, "offset")
	if err != nil {
		return api.ArgumentsPart{}, err
	}
	q := api.ArgumentsRequest{Question: question, Offset: offset, Limit: limit, Peek: onlyPeeks(r)}
	data, size, err := s.hub.Arguments(r.Context(), v.Principal, q)
	if err != nil {
		return api.ArgumentsPart{}, err
	}
	p := api.ArgumentsPart{Question: question, Offset: offset, Size: size}
	if end := offset + int64(len(data)); end < size {
		data = whole(data)
		p.Next = offset + int64(len(data))
		if p.Next == offset {
			return api.ArgumentsPart{}, refuse(api.KindInvalid, "the offset lies within a character", "go on from the next of the page before")
		}
	}
	p.Text = string(data)
	return p, nil
}

// whole removes a character that the end of a page has split.
func whole(data []byte) []byte {
	for back := 1; back < utf8.UTFMax && back <= len(data); back++ {
		tail := data[len(data)-back:]
		if !utf8.RuneStart(tail[0]) {
			continue
		}
		if !utf8.FullRune(tail) {
			return data[:len(data)-back]
		}
		return data
	}
	return data
}

// secondsTo returns the whole seconds until then: 0 if that has passed or is unset.
func (s *Server) secondsTo(then time.Time) int {
	return max(0, int(then.Sub(s.now())/time.Second))
}

func questionNumber(r *http.Request) (int, error) {
	return pathNumber(r, "the question", api.Root+"/questions")
}

// pathNumber reads the number in an address: what it is the number of, and where the list is.
func pathNumber(r *http.Request, what, list string) (int, error) {
	text := r.PathValue("number")
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, refuse(api.KindInvalid, "found "+what+" "+clip(text)+", expected its number", "see "+list)
	}
	return n, nil
}

// decide serves a command about a question, and answers with what the ledger records then.
func (s *Server) decide(verb Verb) endpoint {
	serves := func(route api.Route) handler {
		return func(w http.ResponseWriter, r *http.Request, v visitor) error {
			question, err := questionNumber(r)
			if err != nil {
				return err
			}
			b, err := read[api.Reply](w, r, route)
			if err != nil {
				return err
			}
			reply := Reply{
				Verb: verb, Question: question, Token: b.Token, Decision: b.Decision, Response: b.Response, Reason: b.Reason, Standing: b.Standing,
				At: s.now(), Language: b.Language,
			}
			if err := reply.check(); err != nil {
				return err
			}
			answer, err := s.hub.Reply(r.Context(), v.Principal, reply)
			if err != nil {
				return err
			}
			s.counts.replies.Add(1)
			writeJSON(w, route.Statuses[0], answer)
			s.noticed(w, r, v, reply, answer)
			return nil
		}
	}
	return endpoint{request: reflect.TypeFor[api.Reply](), answer: reflect.TypeFor[api.ReplyAnswer](), serves: serves}
}

// check refuses a reply with no answer, or with two.
func (r Reply) check() error {
	if r.Verb != VerbAnswer {
		if r.Decision != "" || r.Response.Text != "" || r.Standing != nil {
			return refuse(api.KindInvalid, "found an answer where none is wanted", "send {} or a reply_token only")
		}
		return nil
	}
	switch {
	case r.Decision != "" && r.Response.Text != "":
		return refuse(api.KindInvalid, "found a decision and a response, expected one of them", "a confirmation takes a decision, a clarification a response")
	case r.Decision == "" && r.Response.Text == "":
		return refuse(api.KindInvalid, "found neither a decision nor a response", "a confirmation takes a decision, a clarification a response")
	case r.Decision != "" && r.Decision != "accept" && r.Decision != "reject":
		return refuse(api.KindInvalid, "found the decision "+clip(r.Decision)+", expected accept or reject", "only these two words decide")
	}
	return nil
}
