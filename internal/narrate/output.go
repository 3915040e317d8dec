package narrate

import (
	"unicode/utf8"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/session"
)

const (
	keyOutput = "output.chunk"
	// maxChunk limits one chunk, in characters; in bytes it is at most four times that, within the protocol's
	// recommendation for one string.
	maxChunk = 4096
	// maxEncoded limits a chunk as JSON, where a control character takes six bytes.
	maxEncoded = 16 << 10
)

// output streams the agent's answer verbatim, in chunks that end with a sentence.
func (s *eventBuilder) output() error {
	if s.t.Output == "" || s.t.TextReported || s.blocked() {
		return nil
	}
	if err := s.move(aaep.StateWritingOutput, line{key: "output.writing", urgency: aaep.UrgencyBackground}); err != nil {
		return err
	}
	parts := chunks(valid(s.t.Output))
	for i, part := range parts {
		last := i == len(parts)-1
		err := s.add(line{key: keyOutput}, aaep.TypeOutputStreaming, func(texts) ([]aaep.Event, error) {
			hint := part.boundary
			if last {
				hint = aaep.BoundaryCompletion
			}
			return one(s.session.Output(s.t.At, s.t.Rand, aaep.OutputStreaming{Chunk: part.text, Complete: last, CoalesceHint: hint, Language: s.t.Lang}))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

type chunk struct {
	text     string
	boundary aaep.CoalesceHint
}

// chunks splits a text into chunks of limited size, as [session.Cut] does.
func chunks(text string) []chunk {
	var out []chunk
	for text != "" {
		size := fits(text)
		if size == len(text) {
			return append(out, chunk{text: text, boundary: aaep.BoundaryCompletion})
		}
		end, boundary := session.Cut(text, size)
		out = append(out, chunk{text: text[:end], boundary: boundary})
		text = text[end:]
	}
	return out
}

// fits returns how many bytes of the text fit into one chunk.
func fits(text string) int {
	runes, encoded := 0, 0
	for i, r := range text {
		size := utf8.RuneLen(r)
		if r < ' ' || r == '"' || r == '\\' || r == 0x7F {
			size = 6
		}
		if runes == maxChunk || encoded+size > maxEncoded {
			return i
		}
		runes++
		encoded += size
	}
	return len(text)
}
