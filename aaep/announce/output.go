package announce

import (
	"slices"
	"strings"
	"unicode"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/legible"
)

// output counts what has come of one output; its text is kept nowhere.
type output struct {
	id      string
	next    int64 // code points so far
	lines   int64 // begun
	broken  bool  // a part is missing, so that lines cannot be counted
	text    bool  // plain text, whose lines mean something
	content bool  // more than blanks
	inLine  bool  // the last line has begun
}

// output tells once that an answer has arrived. It is never read out.
func (a *Announcer) output(s *session, p aaep.OutputStreaming) []saying {
	o := s.output(p.OutputID)
	o.take(p)
	if !p.Complete {
		return nil
	}
	s.outputs = slices.DeleteFunc(s.outputs, func(other *output) bool { return other == o })
	return o.ready("The answer is ready")
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

func (o *output) take(p aaep.OutputStreaming) {
	o.broken = o.broken || p.Position != o.next
	o.text = o.text && (p.ContentType == "" || strings.HasPrefix(p.ContentType, "text/plain") || strings.HasPrefix(p.ContentType, "text/markdown"))
	for _, r := range p.Chunk {
		o.next++
		if r == '\n' {
			o.inLine = false
			continue
		}
		if !unicode.IsSpace(r) {
			o.content = true
			if !o.inLine {
				o.lines++
				o.inLine = true
			}
		}
	}
}

// ready says that an output is there, with its length where that is known.
func (o *output) ready(what string) []saying {
	if !o.content && !o.broken {
		return nil
	}
	text := what + "."
	if o.text && !o.broken {
		text = what + ": " + legible.Counted(o.lines, "line") + "."
	}
	return []saying{{text: text, language: english, kind: KindOutput, priority: Polite}}
}
