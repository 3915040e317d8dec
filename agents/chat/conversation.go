package chat

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-dev/earshot/agents/chat/llm"
	"github.com/earshot-dev/earshot/utp"
	"github.com/earshot-dev/earshot/worker"
)

// quoted is a result as the model sees it: what a tool returned is a value within it, never text beside it.
type quoted struct {
	Status  utp.Status     `json:"status"`
	Code    utp.Code       `json:"code,omitzero"`
	Message string         `json:"message,omitzero"`
	Result  jsontext.Value `json:"result,omitzero"`
	// Cut has the beginning of a result that is too long, Bytes its whole length.
	Cut   string `json:"beginning_of_result,omitzero"`
	Bytes int    `json:"bytes_of_result,omitzero"`
	// Note is Earshot's word about the result.
	Note string `json:"note,omitzero"`
}

const (
	leftOutNote = "This result was left out because the conversation is long. Call the tool again if you need it."
	cutNote     = "The result is too long. Only its beginning is here."
)

func (q quoted) text() string {
	raw, err := json.Marshal(q, jsontext.PreserveRawStrings(true))
	if err != nil { // a value from the ledger is JSON
		return `{"status":"failed","code":"internal_error"}`
	}
	return string(raw)
}

// quote makes the result of a call for the model, of at most so many bytes of the tool's own value.
func quote(r worker.Result, most int) llm.Result {
	q := quoted{Status: r.Status, Code: r.Code, Message: r.Message, Result: r.Value}
	if r.Status != utp.StatusSuccess && onlyError(r.Value) {
		q.Result = nil // it repeats the code and the message
	}
	if len(q.Result) > most {
		q.Cut, q.Bytes, q.Result, q.Note = clip(string(q.Result), most), len(q.Result), nil, cutNote
	}
	return llm.Result{Text: q.text(), Failed: r.Status != utp.StatusSuccess}
}

// onlyError reports whether a result says only what went wrong.
func onlyError(value jsontext.Value) bool {
	var members map[string]jsontext.Value
	if json.Unmarshal(value, &members) != nil {
		return false
	}
	for name := range members {
		if name != "error" && name != "error_code" && name != "error_message" {
			return false
		}
	}
	return true
}

// clip cuts a text before a character.
func clip(text string, most int) string {
	for most > 0 && most < len(text) && text[most]&0xC0 == 0x80 {
		most--
	}
	return text[:min(most, len(text))]
}

// messages makes the conversation. The results of the first leftOut answers are replaced by a note.
func messages(text string, h history, leftOut, longest int) []llm.Message {
	out := make([]llm.Message, 0, 1+2*len(h.exchanges))
	out = append(out, llm.Message{Text: text})
	for n, x := range h.exchanges {
		out = append(out, llm.Message{Answer: &x.answer}, llm.Message{Results: resultsOf(x, n+1, n < leftOut, longest)})
	}
	return out
}

// resultsOf returns a result for each call of an answer, in their order: the APIs want all of them.
func resultsOf(x exchange, step int, leftOut bool, longest int) []llm.Result {
	byKey := make(map[string]worker.Result, len(x.results))
	for _, r := range x.results {
		byKey[r.Key] = r
	}
	out := make([]llm.Result, 0, len(x.answer.Calls))
	for i, c := range x.answer.Calls {
		r, made := byKey[key(step, i)]
		result := quote(r, longest)
		switch reason := reasonNotMade(x.answer, i); {
		case !made:
			result = llm.Result{Failed: true, Text: quoted{Status: utp.StatusFailed, Code: utp.CodeBadRequest, Message: reason}.text()}
		case c.Name == askName && r.Tool == utp.AskPerson && r.Code == utp.CodeUnknownTool:
			result.Text = quoted{
				Status: utp.StatusFailed, Code: utp.CodeBadRequest,
				Message: fmt.Sprintf("%s takes an object with a question, and perhaps choices or yes_no", askName),
			}.text()
		case leftOut && len(r.Value) > len(leftOutNote):
			result.Text = quoted{Status: r.Status, Code: r.Code, Message: r.Message, Note: leftOutNote}.text()
		}
		result.Call = c.ID
		out = append(out, result)
	}
	return out
}

const (
	// bytesPerToken is few, so that the estimate is rather too high.
	bytesPerToken = 3
	// When the estimate is above nearPercent of the window, older results are left out until it is below roomPercent.
	nearPercent, roomPercent = 80, 55
	// One result may take this much of the window.
	resultPercent = 20
	percent       = 100
)

// longest returns how many bytes of one result the model sees.
func longest(window int) int { return window * bytesPerToken * resultPercent / percent }

// trim returns how many answers' results are left out so that the conversation fits, at least as many as before. The
// latest results always stay.
func trim(q llm.Request, text string, h history, before, window int) int {
	leftOut := min(before, max(len(h.exchanges)-1, 0))
	fixed := len(q.System) / bytesPerToken
	for _, t := range q.Tools {
		fixed += (len(t.Name) + len(t.Description) + len(t.Parameters)) / bytesPerToken
	}
	estimate := func(leftOut int) int {
		total := fixed
		for _, m := range messages(text, h, leftOut, longest(window)) {
			total += size(m) / bytesPerToken
		}
		return total
	}
	if estimate(leftOut) <= window*nearPercent/percent {
		return leftOut
	}
	for leftOut < len(h.exchanges)-1 && estimate(leftOut) > window*roomPercent/percent {
		leftOut++
	}
	return leftOut
}

// size returns the bytes of a message.
func size(m llm.Message) int {
	total := len(m.Text)
	if a := m.Answer; a != nil {
		total += max(len(a.Raw), len(a.Text))
	}
	for _, r := range m.Results {
		total += len(r.Text) + len(r.Call)
	}
	return total
}
