package narrate

import (
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
	"golang.org/x/text/number"
	"golang.org/x/text/unicode/norm"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/legible"
)

// localizer renders messages in one language.
type localizer struct {
	tag      language.Tag
	messages map[string]compiled
	printer  *message.Printer
	// rightToLeft means that values, which may be written the other way, are always isolated.
	rightToLeft bool
	// source says what a tool's definition brings along: its words are English, and stay so. Nil means this localizer.
	source *localizer
	// units are the names of a thousand bytes, of a million and so on.
	units []string
	// tenths are the written numbers from 0 to 10 by tenths: every call's duration is reported, and formatting such a
	// number costs more than the rest of its sentence.
	tenths [101]string
}

// newLocalizer returns one without messages. Numbers have the digits that commands take and keyboards have.
func newLocalizer(tag language.Tag) localizer {
	digits, err := tag.SetTypeForKey("nu", "latn")
	if err != nil {
		digits = tag
	}
	t := localizer{
		tag: tag, messages: map[string]compiled{}, printer: message.NewPrinter(digits),
		rightToLeft: aaep.Direction(tag.String()) == aaep.DirectionRTL,
	}
	t.count()
	return t
}

// count fills the tenths.
func (t *localizer) count() {
	for n := range t.tenths {
		t.tenths[n] = norm.NFC.String(t.printer.Sprint(number.Decimal(float64(n)/10, number.MaxFractionDigits(1))))
	}
}

// nameUnits takes the names of sizes from the catalogue.
func (t *localizer) nameUnits() {
	t.units = byteUnits()
	var out strings.Builder
	if t.writeKey(&out, "value.units", nil, 0) != nil {
		return
	}
	if named := strings.Fields(out.String()); len(named) == len(t.units) {
		t.units = named
	}
}

// compiled is a parsed [Message].
type compiled map[string]phrase

// maxDepth limits the nesting of phrases.
const maxDepth = 12

// render renders a phrase with its parameters.
func (t *localizer) render(p phrase, params Params, depth int) (string, error) {
	var out strings.Builder
	err := t.write(&out, p, params, nil, depth)
	return out.String(), err
}

func (t *localizer) write(out *strings.Builder, p phrase, params Params, number *Param, depth int) error {
	for _, part := range p {
		if err := t.writeNode(out, part, params, number, depth); err != nil {
			return err
		}
	}
	return nil
}

func (t *localizer) writeNode(out *strings.Builder, part node, params Params, number *Param, depth int) error {
	switch part.kind {
	case prose:
		out.WriteString(afterQuote(out.String(), part.text))
		return nil
	case hash:
		return t.writeParam(out, *number, depth)
	case plainParam, pluralParam, selectParam:
	}
	value, given := params[part.param]
	if part.kind == selectParam {
		return t.write(out, choose(part.arms, selector(value, given)), params, number, depth)
	}
	if !given {
		return fmt.Errorf("%w: the parameter %s is not among %v", errTemplate, part.param, params.names())
	}
	if part.kind == plainParam {
		return t.writeParam(out, value, depth)
	}
	n, ok := value.number()
	if !ok {
		return fmt.Errorf("%w: the plural of %s wants a number", errTemplate, part.param)
	}
	return t.write(out, t.plural(part.arms, n), params, &value, depth)
}

func selector(value Param, given bool) string {
	switch {
	case !given || value.none():
		return "none"
	case value.Keyword != "":
		return value.Keyword
	}
	return "some"
}

func choose(arms []selectCase, key string) phrase {
	var other phrase
	for _, a := range arms {
		if a.key == key {
			return a.body
		}
		if a.key == "other" {
			other = a.body
		}
	}
	return other
}

func (t *localizer) plural(arms []selectCase, n int64) phrase {
	exact := fmt.Sprintf("=%d", n)
	for _, a := range arms {
		if a.key == exact {
			return a.body
		}
	}
	return choose(arms, t.form(n))
}

const million = 1_000_000

// form returns the plural form of a number. The tables of the text module are older than the form that French and Spanish have
// for whole millions: un million de fichiers.
func (t *localizer) form(n int64) string {
	base, _ := t.tag.Base()
	if lang := base.String(); (lang == "fr" || lang == "es") && n != 0 && n%million == 0 {
		return "many"
	}
	forms := map[plural.Form]string{
		plural.Zero: "zero", plural.One: "one", plural.Two: "two", plural.Few: "few", plural.Many: "many", plural.Other: "other",
	}
	return forms[plural.Cardinal.MatchPlural(t.tag, int(n%(10*million)), 0, 0, 0, 0)]
}

func (t *localizer) writeParam(out *strings.Builder, p Param, depth int) error {
	if depth >= maxDepth {
		return fmt.Errorf("%w: phrases hold one another more than %d deep", errTemplate, maxDepth)
	}
	switch {
	case p.Secret:
		return t.writeKey(out, "value.secret", nil, depth)
	case p.Key != "":
		return t.writeKey(out, p.Key, p.Params, depth)
	case p.Verbatim != "":
		return t.writeVerbatim(out, p, depth)
	case p.Count != nil:
		out.WriteString(t.decimal(*p.Count))
	case p.Bytes != nil:
		return t.writeBytes(out, *p.Bytes, depth)
	case p.Time != nil:
		return t.writeTime(out, time.Duration(*p.Time)*time.Millisecond, depth)
	case len(p.All) > 0 || p.Left > 0 && len(p.List) == 0:
		return t.writeAll(out, p, depth)
	case len(p.List) > 0:
		return t.writeList(out, p, depth)
	case p.Quote != "":
		return t.writeQuote(out, p, depth)
	case p.Exact != "":
		return t.writeExact(out, p, depth)
	case p.Name != "":
		out.WriteString(t.isolate(p.Name))
	case p.Text != "":
		out.WriteString(t.isolate(legible.Value(p.Text)))
		return t.writeMore(out, p.More, depth)
	case p.Keyword != "":
		return fmt.Errorf("%w: the word %s chooses a form and cannot be shown", errTemplate, p.Keyword)
	default:
		return t.writeKey(out, "value.empty", nil, depth)
	}
	return nil
}

// writeVerbatim writes the words of a tool's definition, with the numbers and the plural forms of their own language.
func (t *localizer) writeVerbatim(out *strings.Builder, p Param, depth int) error {
	own, err := parsePhrase(p.Verbatim)
	if err != nil {
		return err
	}
	if t.source == nil {
		return t.write(out, own, p.Params, nil, depth+1)
	}
	var text strings.Builder
	err = t.source.write(&text, own, p.Params, nil, depth+1)
	out.WriteString(t.isolate(text.String()))
	return err
}

// isolate keeps a value from turning the sentence around it, where that is written from right to left.
func (t *localizer) isolate(value string) string {
	const first, pop = "\u2068", "\u2069"
	if !t.rightToLeft || value == "" {
		return value
	}
	return first + value + pop
}

func (t *localizer) writeKey(out *strings.Builder, key string, params Params, depth int) error {
	m, ok := t.messages[key]
	if !ok {
		return fmt.Errorf("%w: the catalogue has no message %s", errTemplate, key)
	}
	return t.write(out, m[fieldNormal], params, nil, depth+1)
}

// What is replaced in texts. A replacer costs more to make than to use.
//
//nolint:gochecknoglobals // they do not change
var (
	innerMarks   = strings.NewReplacer("“", "‘", "”", "’", "„", "‚", "‟", "‛")
	namedMarks   = strings.NewReplacer("“", "<U+201C>", "”", "<U+201D>", "„", "<U+201E>", "‟", "<U+201F>")
	quotedBraces = strings.NewReplacer("{", "'{'", "}", "'}'")
	isolates     = strings.NewReplacer(string(legible.FirstIsolate), "", string(legible.PopIsolate), "")
)

// writeQuote writes somebody's words between quotation marks, which they cannot close themselves. A cut is noted after
// the closing mark.
func (t *localizer) writeQuote(out *strings.Builder, p Param, depth int) error {
	inner := innerMarks.Replace(p.Quote)
	out.WriteString("“" + t.isolate(legible.Value(inner)))
	if p.More > 0 {
		out.WriteString("…")
	}
	out.WriteString("”")
	return t.writeMore(out, p.More, depth)
}

// afterQuote returns the prose that follows text. Words that end with a full stop before their closing mark get no other behind it.
func afterQuote(text, prose string) string {
	rest, full := strings.CutPrefix(prose, ".")
	inner, quoted := strings.CutSuffix(text, "”")
	if !full || !quoted {
		return prose
	}
	inner = strings.TrimSuffix(inner, string(legible.PopIsolate))
	if r, _ := utf8.DecodeLastRuneInString(inner); strings.ContainsRune(".۔。", r) {
		return rest
	}
	return prose
}

// writeExact writes a value between quotation marks and names those inside it, so that values with different bytes look
// different.
func (t *localizer) writeExact(out *strings.Builder, p Param, depth int) error {
	out.WriteString("“" + t.isolate(namedMarks.Replace(legible.Value(p.Exact))) + "”")
	return t.writeMore(out, p.More, depth)
}

func (t *localizer) writeMore(out *strings.Builder, more, depth int) error {
	if more == 0 {
		return nil
	}
	out.WriteByte(' ')
	return t.writeKey(out, "value.more", Params{"n": count(int64(more))}, depth)
}

func (t *localizer) writeAll(out *strings.Builder, p Param, depth int) error {
	for i, item := range p.All {
		if i > 0 {
			out.WriteByte(' ')
		}
		if err := t.writeParam(out, item, depth+1); err != nil {
			return err
		}
	}
	if p.Left == 0 {
		return nil
	}
	if len(p.All) > 0 {
		out.WriteByte(' ')
	}
	return t.writeKey(out, "value.left", Params{"n": count(int64(p.Left))}, depth)
}

func (t *localizer) writeList(out *strings.Builder, p Param, depth int) error {
	for i, item := range p.List {
		if i > 0 {
			if err := t.writeKey(out, "value.comma", nil, depth); err != nil {
				return err
			}
		}
		if err := t.writeParam(out, item, depth+1); err != nil {
			return err
		}
	}
	if p.Left == 0 {
		return nil
	}
	out.WriteByte(' ')
	return t.writeKey(out, "value.others", Params{"n": count(int64(p.Left))}, depth)
}

func (t *localizer) decimal(n int64) string { return t.printer.Sprint(number.Decimal(n)) }

// writeBytes writes an exact size, from a thousand bytes on after a rounded one: 12.3 MB (12,345,678 bytes).
func (t *localizer) writeBytes(out *strings.Builder, n int64, depth int) error {
	exact := Params{"n": count(n)}
	if n < 1000 && n > -1000 {
		return t.writeKey(out, "value.bytes", exact, depth)
	}
	value, unit := float64(n)/1000, 0
	for unit < len(t.units)-1 && math.Abs(math.Round(value*10)) >= 10_000 {
		value, unit = value/1000, unit+1
	}
	round := t.printer.Sprint(number.Decimal(value, number.Scale(1)))
	return t.writeKey(out, "value.size", exact.with(Params{
		"round": {Name: norm.NFC.String(round + " " + t.units[unit])},
	}), depth)
}

func byteUnits() []string { return []string{"kB", "MB", "GB", "TB", "PB", "EB"} }

// writeTime writes a duration in its two largest units: 5 minutes, 1 hour 20 minutes, 1.4 seconds.
func (t *localizer) writeTime(out *strings.Builder, d time.Duration, depth int) error {
	if d < 0 {
		d = 0
	}
	if d < 10*time.Second && d%time.Second != 0 {
		tenths := (d + 50*time.Millisecond) / (100 * time.Millisecond)
		return t.writeKey(out, "value.fraction", Params{"n": {Name: t.tenths[tenths]}}, depth)
	}
	seconds := int64((d + time.Second/2) / time.Second)
	first, second := twoUnits(seconds)
	if err := t.writeKey(out, first.key, Params{"n": count(first.n)}, depth); err != nil {
		return err
	}
	if second.n == 0 {
		return nil
	}
	out.WriteByte(' ')
	return t.writeKey(out, second.key, Params{"n": count(second.n)}, depth)
}

type timePart struct {
	key string
	n   int64
}

func twoUnits(seconds int64) (first, second timePart) {
	units := []struct {
		key string
		len int64
	}{{"value.days", 86_400}, {"value.hours", 3600}, {"value.minutes", 60}}
	below := timePart{key: "value.seconds"}
	for i, u := range units {
		if seconds < u.len {
			continue
		}
		rest := seconds % u.len
		if i+1 < len(units) {
			below = timePart{key: units[i+1].key, n: rest / units[i+1].len}
		} else {
			below.n = rest
		}
		return timePart{key: u.key, n: seconds / u.len}, below
	}
	return timePart{key: "value.seconds", n: seconds}, timePart{}
}

// escape escapes braces in prose.
func escape(s string) string {
	return quotedBraces.Replace(norm.NFC.String(s))
}
