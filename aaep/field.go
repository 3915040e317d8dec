package aaep

// Kind is the JSON type of a field.
type Kind string

// The kinds. An integer may be written in any notation of an integral value (C-18).
const (
	KindString  Kind = "string"
	KindInteger Kind = "integer"
	KindNumber  Kind = "number"
	KindBoolean Kind = "boolean"
	KindObject  Kind = "object"
	KindArray   Kind = "array"
	KindScalar  Kind = "string, boolean or number"
	KindContext Kind = "string or array of strings"
)

// Format is the meaning of a string beyond its pattern.
type Format string

// The formats.
const (
	FormatURI       Format = "uri"       // RFC 3986, with a scheme
	FormatTimestamp Format = "timestamp" // RFC 3339 as §3.2.5 narrows it
	FormatLanguage  Format = "language"  // well-formed BCP 47
)

// Field describes one member of a message as data. [Validate] walks it, the exported schema is generated from it, and a
// test compares the Go structs with it. Methods return changed copies, so that a table row reads as one line.
type Field struct {
	Name string
	Rule string   // the rule that defines the field, first in the catalogue
	Also []string // further rules of the same field
	Spec string   // section, where it is not the message's own
	// Description says in a sentence what the value is, for the exported schema and the
	// reference page.
	Description   string
	Kind          Kind
	Required      bool
	RecommendedBy string // the rule of a warning when the field is absent
	Readable      bool   // text for people: language variants, NFC, language hints

	MinLen, MaxLen int // code points of a string, items of an array; MaxLen 0 means no limit
	Pattern        Pattern
	Format         Format
	Enum           []string
	Low, High      float64 // of a number, when Bounded
	Bounded        bool

	Item    *Field  // of an array
	Unique  bool    // no two items alike
	Members []Field // of an object; nil lets every member pass
	Closed  string  // the rule against members that are not in Members; "" lets them pass
	Each    *Field  // every member of an object that is a map

	// Safety marks a value that must not be acted on if it is wrong: a consumer treats the finding as an error instead
	// of a warning.
	Safety bool
	// Default is what an absent value means, for the exported schema.
	Default string
	// Checks are the rules of this one field that data cannot express.
	Checks []Rule
}

// Lengths and ranges that recur.
const (
	long       = 16384
	medium     = 4096
	label      = 1024
	short      = 256
	word       = 64
	dayMillis  = 86_400_000
	daySeconds = 86_400
)

func text(name, rule string, minLen, maxLen int) Field {
	return Field{Name: name, Rule: rule, Kind: KindString, MinLen: minLen, MaxLen: maxLen}
}

// readable is text for people, at least one character long.
func readable(name, rule string, maxLen int) Field {
	f := text(name, rule, 1, maxLen)
	f.Readable = true
	return f
}

// The three lengths in which an event tells the same (ENV-37).
func normal(rule string) Field {
	return readable("summary_normal", rule, long).means("What happened, in a sentence or two.")
}

func terse(rule string) Field {
	return readable("summary_terse", rule, medium).means("What happened, in a few words.")
}

func detailed(rule string) Field {
	return readable("summary_detailed", rule, long).means("What happened, in full.")
}

func patterned(name, rule string, p Pattern) Field {
	return Field{Name: name, Rule: rule, Kind: KindString, Pattern: p}
}

func formatted(name, rule string, format Format) Field {
	return Field{Name: name, Rule: rule, Kind: KindString, Format: format}
}

func oneOf(name, rule string, words ...string) Field {
	return Field{Name: name, Rule: rule, Kind: KindString, Enum: words}
}

func integer(name, rule string, low, high float64) Field {
	return Field{Name: name, Rule: rule, Kind: KindInteger, Low: low, High: high, Bounded: true}
}

func number(name, rule string, low, high float64) Field {
	return Field{Name: name, Rule: rule, Kind: KindNumber, Low: low, High: high, Bounded: true}
}

// millis is a duration of at most a day.
func millis(name, rule string) Field { return integer(name, rule, 0, dayMillis) }

func boolean(name, rule string) Field { return Field{Name: name, Rule: rule, Kind: KindBoolean} }

// anyObject is an object of any shape.
func anyObject(name, rule string) Field { return Field{Name: name, Rule: rule, Kind: KindObject} }

func object(name, rule, closed string, members ...Field) Field {
	return Field{Name: name, Rule: rule, Kind: KindObject, Closed: closed, Members: members}
}

func array(name, rule string, minLen, maxLen int, item Field) Field {
	return Field{Name: name, Rule: rule, Kind: KindArray, MinLen: minLen, MaxLen: maxLen, Item: &item}
}

func (f Field) required() Field              { f.Required = true; return f }
func (f Field) recommended() Field           { f.RecommendedBy = "PAY-03"; return f }
func (f Field) unique() Field                { f.Unique = true; return f }
func (f Field) safety() Field                { f.Safety = true; return f }
func (f Field) also(rules ...string) Field   { f.Also = rules; return f }
func (f Field) spec(section string) Field    { f.Spec = section; return f }
func (f Field) people() Field                { f.Readable = true; return f }
func (f Field) means(words string) Field     { f.Description = words; return f }
func (f Field) otherwise(value string) Field { f.Default = value; return f }
func (f Field) checks(rules ...Rule) Field   { f.Checks = rules; return f }
