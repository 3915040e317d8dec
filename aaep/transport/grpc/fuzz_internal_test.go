package grpc

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"unicode/utf8"

	"github.com/earshot-dev/earshot/aaep/transport"
)

// FuzzFields: whatever is on the wire, the reader of protocol buffers ends, stays within it, and takes what it writes itself.
func FuzzFields(f *testing.F) {
	for _, seed := range [][]byte{
		nil, appendBytes(nil, fieldJSON, []byte(`{"type":"x"}`)), number(3, 1<<63),
		{0x09, 1, 2, 3, 4, 5, 6, 7, 8},
		{0x0d, 1, 2, 3, 4},
		{0x0b, 0x0c},
		{0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01},
		bytes.Repeat([]byte{0x80}, 20),
		{0x0a, 0x05, 'a'},
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		total := 0
		err := fields(raw, func(_ uint64, value []byte) { total += len(value) })
		if total > len(raw) {
			t.Fatalf("%d bytes of fields in %d", total, len(raw))
		}
		if err != nil && !errors.Is(err, errMalformed) {
			t.Fatal(err)
		}
		got, err := unpack(appendBytes(bytes.Clone(raw), fieldJSON, raw))
		if _, wrong := unpack(raw); wrong == nil && (err != nil || !bytes.Equal(got, raw)) {
			t.Fatalf("the last field is %q (%v), expected %q", got, err, raw)
		}
	})
}

// FuzzFrames: whatever arrives, in whatever pieces, each message is within the limit and UTF-8, and the end has one of the errors that are promised.
func FuzzFrames(f *testing.F) {
	one := pack([]byte(`{"type":"confirmation.reply","reply_token":"é"}`))
	for _, seed := range [][]byte{nil, one, append(bytes.Clone(one), one...), one[:7], {1, 0, 0, 0, 0}, {0, 0xff, 0xff, 0xff, 0xff}, {0, 0, 0, 0, 0}, frame([]byte{0x0a, 9}), pack([]byte("\xff"))} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		o := Options{Limit: 100}
		from := bytes.NewReader(raw)
		for {
			message, err := o.receive(from)
			if err == nil {
				if len(message) > o.Limit || !utf8.Valid(message) {
					t.Fatalf("a message of %d bytes: %q", len(message), message)
				}
				continue
			}
			refused, is := errors.AsType[*transport.Error](err)
			switch {
			case is && (refused.Code == transport.ProtocolError || refused.Code == transport.TooBig || refused.Code == transport.NotUTF8):
			case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			default:
				t.Fatal(err)
			}
			return
		}
	})
}
