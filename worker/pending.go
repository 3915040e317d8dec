package worker

import "strings"

// pending is text that waits to be sent, in runs of one language each.
type pending struct {
	runs []run
	size int // bytes of all runs
}

// run is text in one language, valid UTF-8 and not empty.
type run struct{ lang, text string }

// add adds text behind the rest.
func (p *pending) add(lang, text string) {
	if text == "" {
		return
	}
	p.size += len(text)
	if last := len(p.runs) - 1; last >= 0 && p.runs[last].lang == lang {
		p.runs[last].text += text
		return
	}
	p.runs = append(p.runs, run{lang, text})
}

// first returns the first run, and whether it is complete because another language follows.
func (p *pending) first() (first run, complete bool) {
	if len(p.runs) == 0 {
		return run{}, false
	}
	return p.runs[0], len(p.runs) > 1
}

// drop removes the first n bytes.
func (p *pending) drop(n int) {
	p.size -= n
	for n > 0 {
		if first := &p.runs[0]; n < len(first.text) {
			first.text = first.text[n:]
			return
		}
		n -= len(p.runs[0].text)
		p.runs = p.runs[1:]
	}
}

// text returns the text without its languages.
func (p *pending) text() string {
	var b strings.Builder
	for _, r := range p.runs {
		b.WriteString(r.text)
	}
	return b.String()
}
