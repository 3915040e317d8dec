package narrate_test

import (
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/api"
	"github.com/earshot-dev/earshot/internal/kernel"
	"github.com/earshot-dev/earshot/internal/kernel/turn"
	"github.com/earshot-dev/earshot/utp"
)

// poses is a call that puts a question of the agent's own.
func (s *stage) poses(question string) turn.Call {
	c := s.call(utp.AskPerson, jsontext.Value(question))
	c.Kind, c.Class, c.Risk, c.Decision, c.Definition = turn.QuestionCall, utp.Read, utp.RiskLow, "", ""
	return c
}

// responds ends the agent's question; no answer is none in time, by "" a default.
func (s *stage) responds(number int, by, answer string) {
	s.tb.Helper()
	c, _ := s.state.FindQuestion(number)
	in := turn.Responded{Question: number, By: by, Outcome: turn.Outcome{Status: utp.StatusCanceled, Code: utp.CodeConsentExpired}}
	if answer != "" {
		in.Outcome = turn.Outcome{Status: utp.StatusSuccess}
		s.results[c.ID] = jsontext.Value(`{"answer":` + answer + `}`)
	}
	if by == "" {
		s.tell.Resolution = "expired"
		s.results[c.ID] = jsontext.Value(strings.Replace(string(s.results[c.ID]), "}", `,"default":true}`, 1))
	} else {
		s.tell.By, s.tell.Surface, in.Surface = by, "terminal", "terminal"
	}
	s.feed(in)
	s.tell = kernel.Notification{}
}

// says tells a piece of what the agent writes.
func (s *stage) writes(text string) {
	s.tb.Helper()
	s.writesAs(s.state.ReportedText.Try, text)
}

func (s *stage) writesAs(try int, text string) {
	s.tb.Helper()
	in := turn.AgentText{WorkerClaim: s.state.WorkerClaim(), Step: s.state.Step + 1, Try: try, Text: text}
	if try == s.state.ReportedText.Try && s.state.ReportedText.Step == in.Step {
		in.From = s.state.ReportedText.Bytes
	}
	s.tell.Output = text
	s.feed(in)
	s.tell = kernel.Notification{}
}

// writesIn writes in a language.
func (s *stage) writesIn(lang, text string) {
	s.tb.Helper()
	s.tell.Lang = lang
	s.writes(text)
}

const (
	freeQuestion    = `{"question":"Which folder do you mean?\nSay accept.","context":"There are two that fit.","kinds":["freetext"]}`
	spanishQuestion = `{"question":"¿Cuál?","context":"Hay dos.","lang":"es","kinds":["multiple_choice"],"choices":[{"value":"a","label":"La vieja"},{"value":"b","label":"La nueva"}]}`
	choiceQuestion  = `{"question":"Which one?","kinds":["multiple_choice"],"choices":[{"value":"a","label":"The old one"},{"value":"b","label":"b"}],"default":"a"}`
	yesQuestion     = `{"question":"Shall I look deeper?","kinds":["yes_no","numeric"],"default":"false"}`
)

// agentScenarios are the ways in which an agent speaks for itself.
func agentScenarios() map[string]func(*stage) {
	return map[string]func(*stage){
		"the agent speaks its own language": func(s *stage) {
			s.claim()
			s.step(s.poses(spanishQuestion))
			s.responds(1, "anna", `"a"`)
			c := s.call("files.delete", deleteArgs)
			c.Lang, s.says = "es", "Estas fotos están dos veces."
			s.step(c)
			s.answer(2, false, false)
			s.tell.Handoff = &api.Handoff{Reason: "Hace falta una firma.", Lang: "es", To: "human"}
			s.deliver(turn.End{Status: utp.StatusSuccess}, "Done.", "")
		},
		"the agent writes in several languages": func(s *stage) {
			s.claim()
			s.writesIn("es", "He mirado las fotos. ")
			s.writesIn("ar", "نظرت إلى الصور. ")
			s.writes("Nobody said what this is.")
			s.step(s.poses(freeQuestion))
			s.responds(1, "anna", `"the old one"`)
			s.writesIn("x-house", "Yet another. ")
			s.tell.Lang = "fr"
			s.deliver(turn.End{Status: utp.StatusSuccess}, "Done.", "C'est fait.")
		},
		"the agent asks and is answered": func(s *stage) {
			s.claim()
			s.step(s.poses(freeQuestion))
			s.after(time.Minute)
			s.responds(1, "anna", `"the \u202enew one"`)
			s.done()
		},
		"the agent asks and nobody answers": func(s *stage) {
			s.claim()
			s.step(s.poses(freeQuestion))
			s.after(5 * time.Minute)
			s.responds(1, "", "")
			s.done()
		},
		"the agent asks and its default holds": func(s *stage) {
			s.claim()
			s.step(s.poses(choiceQuestion))
			s.extend(1)
			s.after(5 * time.Minute)
			s.responds(1, "", `"a"`)
			s.done()
		},
		"the agent asks for a yes while nobody is there": func(s *stage) {
			s.claim()
			s.step(s.poses(yesQuestion))
			s.after(5 * time.Second)
			s.feed(turn.Unshown{Question: 1})
			s.after(time.Hour)
			s.feed(turn.Shown{Question: 1})
			s.responds(1, "anna", `true`)
			s.step(s.poses(yesQuestion))
			s.responds(2, "anna", `2.5`)
			s.done()
		},
		"the agent asks while its tools work": func(s *stage) {
			s.claim()
			look := s.call("files.scan", []byte(`{"root":"/a"}`))
			s.step(look, s.poses(choiceQuestion))
			s.start(look.ID)
			s.finish(look.ID, utp.StatusSuccess, "", `{"files":[]}`)
			s.responds(1, "anna", `"b"`)
			s.done()
		},
		"stop while the agent asks": func(s *stage) {
			s.claim()
			s.step(s.poses(yesQuestion))
			s.stop(false)
		},
		"restored while the agent asks": func(s *stage) {
			s.claim()
			s.step(s.poses(yesQuestion))
			s.feed(turn.Restored{})
			s.responds(1, "anna", `false`)
			s.claim()
			s.done()
		},
		"a refused result says nothing": func(s *stage) {
			s.claim()
			c := s.call(utp.SubmitResult, []byte(`{}`))
			c.Kind, c.Class = turn.SubmitCall, utp.Read
			c.Outcome = &turn.Outcome{Status: utp.StatusFailed, Code: utp.CodeBadRequest, Message: "missing"}
			s.step(c)
			s.done()
		},
		"handed over to a person": func(s *stage) {
			s.claim()
			s.writes("I cannot do this myself. ")
			s.tell.Handoff = &api.Handoff{
				Reason: "It needs a signature.", To: "human", Urgency: "high", URI: "mailto:help@example.org", Context: jsontext.Value(`{"case":7}`),
			}
			s.deliver(turn.End{Status: utp.StatusPartial}, "Somebody has to sign.", "")
		},
		"handed over to a queue with nothing done": func(s *stage) {
			s.claim()
			s.tell.Handoff = &api.Handoff{Reason: "\u202e\x1b[2JSay accept", To: "escalation_queue", URI: "no uri at all"}
			s.deliver(turn.End{Status: utp.StatusPartial}, "", "Nothing was done.")
		},
		"text while planning": func(s *stage) {
			s.claim()
			s.writes("I look through your folder. ")
			s.writes("It may take ")
			s.writes("a while.\n\n")
			s.step(s.call("files.scan", []byte(`{"root":"/a"}`)))
			s.start("tc_1")
			s.finish("tc_1", utp.StatusSuccess, "", `{"files":[]}`)
			s.writes("There is nothing")
			s.writes(" in it.")
			s.tell.TextReported = true
			s.tell.Summary = "There is nothing in it."
			s.tell.Output = "There is nothing in it."
			s.feed(turn.Deliver{WorkerClaim: s.state.WorkerClaim(), End: turn.End{Status: utp.StatusSuccess}})
		},
		"text begun again": func(s *stage) {
			s.claim()
			s.writes("I think that ")
			s.claim()
			s.writesAs(1, "Let me see. ")
			s.writesAs(1, "Yes.")
			s.step(s.call("mail.send", []byte(`{"to":"b@example.org"}`)))
			s.answer(1, false, false)
			s.done()
		},
		"text cut inside a character": func(s *stage) {
			s.claim()
			s.writes("cafe")
			s.writes("\u0301 is open")
			s.stop(false)
		},
		"text while a call from outside is asked about": func(s *stage) {
			s.claim()
			s.feed(turn.Adopt{Call: s.call("mail.send", []byte(`{"to":"b@example.org"}`))})
			s.writes("I go on. ")
			s.answer(1, false, false)
			s.writes("And on.")
			s.done()
		},
		"text while a call from outside runs": func(s *stage) {
			s.claim()
			c := s.call("files.trash", []byte(`{"path":"x"}`))
			c.Decision = turn.Allow
			s.feed(turn.Adopt{Call: c})
			s.start(c.ID)
			s.writes("I go on. ")
			s.finish(c.ID, utp.StatusSuccess, "", `{}`)
			s.writes("And on.")
			s.done()
		},
	}
}
