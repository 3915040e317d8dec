package announce

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/legible"
)

const (
	// lifeTime is how often it is told that a text is still being written.
	lifeTime = 10 * time.Second
	// maxWaiting is how much text waits for the end of a sentence, in bytes.
	maxWaiting = 4096
)

// output is one text that an agent writes.
type output struct {
	id      string
	next    int64 // the position of the next character
	lines   int64
	words   int64
	inLine  bool
	inWord  bool
	content bool      // something that can be seen
	text    bool      // readable as it is
	broken  bool      // a part is missing
	life    time.Time // when it began, or was last told to go on
	waiting string    // what has not reached the end of a sentence
	speaks  string    // the language of the latest text; "" is not known
	whole   []written // the latest of it, for anyone who asks
}

// written is text in one language.
type written struct {
	text     []byte
	language string
}

// answer is the latest text that is there.
type answer struct {
	session, event string
	text           []written
}

// asItComes reports whether the agent's text is announced itself.
func (a *Announcer) asItComes() bool {
	return a.preferences.Surface.Output == OutputAsItComes && a.preferences.Pace != PaceQuiet
}

// output takes a piece of text. Where the surface shows it, that it is there is told, and, while it gets
// long, that it goes on; where the surface has no other place for it, it is announced itself, up to the
// end of a sentence: a piece that ends nowhere never is (OUT-08).
func (a *Announcer) output(now time.Time, s *session, e aaep.Event, p aaep.OutputStreaming) []saying {
	o := s.output(p.OutputID)
	if o.life.IsZero() {
		o.life = now
	}
	var said []saying
	if p.Chunk != "" && p.Language != o.speaks {
		if a.asItComes() {
			said = o.rest() // no voice says two languages in one sentence
		}
		o.speaks = p.Language
	}
	o.add(p)
	if a.preferences.Surface.Output != OutputElsewhere {
		o.retain(p.Chunk)
	}
	if p.Complete {
		s.outputs = slices.DeleteFunc(s.outputs, func(other *output) bool { return other == o })
		a.answer = answer{session: s.id, event: e.ID, text: o.whole}
	}
	s.doing = "Writing the answer."
	switch {
	case a.asItComes():
		return append(said, o.sentences(p)...)
	case p.Complete:
		return a.ready(o, "The answer is ready")
	case now.Sub(o.life) >= lifeTime && o.content:
		o.life = now
		text, language := a.own(o.goesOn())
		return []saying{{text: text, language: language, kind: KindProgress, priority: Polite}}
	}
	return nil
}

// goesOn is a sign of life.
func (o *output) goesOn() string {
	if !o.text || o.broken {
		return "Still writing."
	}
	return "Still writing: " + legible.Counted(o.words, "word") + " so far."
}

// retain remembers a text as far as there is room: its end counts.
func (o *output) retain(chunk string) {
	if chunk == "" {
		return
	}
	last := len(o.whole) - 1
	if last < 0 || o.whole[last].language != o.speaks {
		o.whole, last = append(o.whole, written{language: o.speaks}), last+1
	}
	o.whole[last].text = append(o.whole[last].text, chunk...)
	excess := -MaxAnswer
	for _, w := range o.whole {
		excess += len(w.text)
	}
	for excess > 0 {
		first := &o.whole[0]
		if excess < len(first.text) {
			first.cut(excess)
			return
		}
		excess -= len(first.text)
		o.whole = slices.Delete(o.whole, 0, 1)
	}
}

// cut removes the first n bytes, and the rest of a character.
func (w *written) cut(n int) {
	for n < len(w.text) && !utf8.RuneStart(w.text[n]) {
		n++
	}
	w.text = slices.Delete(w.text, 0, n)
}

// sentences is what has come up to the end of a sentence.
func (o *output) sentences(p aaep.OutputStreaming) []saying {
	o.waiting += p.Chunk
	whole := p.Complete || len(o.waiting) > maxWaiting
	switch p.CoalesceHint {
	case aaep.BoundarySentence, aaep.BoundaryParagraph, aaep.BoundaryCompletion:
		whole = true
	case aaep.BoundaryNone, aaep.BoundaryWord:
	}
	if !whole {
		return nil
	}
	return o.rest()
}

// rest is what waits of a text.
func (o *output) rest() []saying {
	text := strings.Trim(strings.TrimRightFunc(o.waiting, unicode.IsSpace), "\n")
	o.waiting = ""
	if strings.TrimSpace(text) == "" {
		return nil
	}
	return []saying{{text: lined(text), language: o.speaks, label: labelOutput, kind: KindOutput, priority: Polite}}
}

// Answer is the agent's latest text once more, in pieces of about [MaxText] characters that keep their lines;
// none where there is none, or where this surface shows it elsewhere.
func (a *Announcer) Answer() []Announcement {
	var out []Announcement
	for _, w := range a.answer.text {
		rest := strings.TrimSpace(string(w.text))
		for rest != "" {
			var text string
			text, rest = nextPart(rest)
			out = append(out, a.again(Announcement{
				ID: a.answer.session + "." + a.answer.event, Session: a.answer.session, Event: a.answer.event, Text: lined(text),
				Language: w.language, Kind: KindOutput, Label: labelOutput,
			}, "answer"))
		}
	}
	return out
}

// lined is a text that keeps its lines and what they begin with.
func lined(text string) string { return legible.Text(strings.ReplaceAll(text, "\t", "    ")) }

// nextPart cuts the next piece off a text: whole lines where they fit.
func nextPart(text string) (part, rest string) {
	if utf8.RuneCountInString(text) <= MaxText {
		return text, ""
	}
	head, _ := legible.Cut(text, MaxText)
	if i := strings.LastIndexByte(head, '\n'); i > 0 {
		head = head[:i]
	}
	return head, strings.TrimLeft(text[len(head):], "\n")
}

func (s *session) output(id string) *output {
	i := slices.IndexFunc(s.outputs, func(o *output) bool { return o.id == id })
	if i >= 0 {
		return s.outputs[i]
	}
	if len(s.outputs) >= maxOutputs {
		s.outputs = slices.Delete(s.outputs, 0, 1)
	}
	o := &output{id: id, text: true}
	s.outputs = append(s.outputs, o)
	return o
}

func (o *output) add(p aaep.OutputStreaming) {
	o.broken = o.broken || p.Position != o.next
	o.text = o.text && (p.ContentType == "" || strings.HasPrefix(p.ContentType, "text/plain") || strings.HasPrefix(p.ContentType, "text/markdown"))
	for _, r := range p.Chunk {
		o.next++
		if r == '\n' {
			o.inLine, o.inWord = false, false
			continue
		}
		if !unicode.IsSpace(r) {
			o.content = true
			if !o.inLine {
				o.lines++
				o.inLine = true
			}
			if !o.inWord {
				o.words++
			}
		}
		o.inWord = !unicode.IsSpace(r)
	}
}

// ready says that a text is there, with its length where that is known.
func (a *Announcer) ready(o *output, what string) []saying {
	if !o.content && !o.broken {
		return nil
	}
	w := saying{kind: KindOutput, priority: Polite}
	text := what + "."
	if o.text && !o.broken {
		text = what + ": " + legible.Counted(o.lines, "line") + "."
	}
	if a.preferences.Surface.Output != OutputElsewhere {
		w.offer = OfferRead
		text = join(text, a.hint(OfferRead, 0))
	}
	w.text, w.language = a.own(text)
	return []saying{w}
}
