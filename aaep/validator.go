package aaep

// Mode says for whom [Validate] judges.
type Mode int

const (
	// ModeProducer judges what one is about to send: every MUST and every schema limit
	// is an error, advice is a warning.
	ModeProducer Mode = iota
	// ModeConsumer judges what one has received: only what cannot be read, or would be
	// unsafe to act on, is an error. Unknown names, words and types pass.
	ModeConsumer
	// ModeEnvelope judges like ModeProducer, but of an event only the envelope, so that
	// a payload may be missing or unknown (C-03). Messages that have no envelope are
	// judged whole.
	ModeEnvelope
)

// Validate judges one message by its type: an event, a reply, or a part of the
// handshake. It returns every finding, in the order of the nine steps of §3.9, or nil.
// It never panics and never stops at the first finding, except that nothing more can
// be said of bytes that are not a JSON object, and that at most 500 findings of each
// severity are listed. Time and memory are in proportion to the size of the text; one
// of more than [MaxBytes] is not read.
//
// Who judges many messages is better served by a [Validator].
func Validate(raw []byte, mode Mode) []Violation { return Read(raw).Validate(mode) }

// Validate judges a document that has been read already; see the function of the
// same name.
func (d Document) Validate(mode Mode) []Violation { return new(Validator).Judge(d, mode) }

// Validator judges messages one behind the other and keeps its memory for the next: a
// message without findings costs no allocation. The zero Validator is ready. It must
// not be used by two goroutines at once, and must not be copied.
type Validator struct {
	// Prefixes names the context that declares each extension prefix, beside those
	// that this package knows, so that they can be judged exactly (ENV-42, C-09).
	Prefixes map[string]string

	tape tape
	in   inspection
}

// Validate does what the function of the same name does.
func (v *Validator) Validate(raw []byte, mode Mode) []Violation { return v.Judge(v.Read(raw), mode) }

// Read does what the function of the same name does. The document is good until the
// next call of Read or Validate.
func (v *Validator) Read(raw []byte) Document {
	v.tape.read(raw)
	return Document{&v.tape}
}

// Judge judges a document, of this validator or of any other.
func (v *Validator) Judge(d Document, mode Mode) []Violation {
	if !d.Readable() {
		return d.Violations()
	}
	v.in.begin(d.tape, mode, v.Prefixes)
	v.in.message()
	return v.in.end()
}
