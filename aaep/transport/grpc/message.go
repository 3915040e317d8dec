package grpc

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/earshot-dev/earshot/aaep"
	"github.com/earshot-dev/earshot/aaep/transport"
)

const (
	// headSize is how many bytes are before a message: whether it is compressed, and its size.
	headSize = 5
	// envelope is the room for what is around the JSON of a message: its tag, its size and its type.
	envelope = 1 << 10
)

// The fields of the messages, by their numbers in aaep.proto.
const (
	fieldJSON = 1
	fieldType = 2
)

// The kinds of fields on the wire.
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
	wireFixed32 = 5
)

var errMalformed = errors.New("the message is cut off, or no message of protocol buffers")

// appendBytes appends a field of bytes, or of a text or a message.
func appendBytes(to []byte, field uint64, value []byte) []byte {
	to = binary.AppendUvarint(to, field<<3|wireBytes)
	to = binary.AppendUvarint(to, uint64(len(value)))
	return append(to, value...)
}

// number is a field with a number.
func number(field, value uint64) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(nil, field<<3|wireVarint), value)
}

// fields calls a function for each field of bytes. Others are skipped.
func fields(raw []byte, each func(field uint64, value []byte)) error {
	for len(raw) > 0 {
		tag, n := binary.Uvarint(raw)
		if n <= 0 {
			return errMalformed
		}
		raw = raw[n:]
		skip := 0
		switch tag & 7 {
		case wireVarint:
			_, skip = binary.Uvarint(raw)
		case wireFixed64:
			skip = 8
		case wireFixed32:
			skip = 4
		case wireBytes:
			size, n := binary.Uvarint(raw)
			if n <= 0 || size > uint64(len(raw)-n) {
				return errMalformed
			}
			skip = n + int(size)
			each(tag>>3, raw[n:skip])
		}
		if skip <= 0 || skip > len(raw) {
			return errMalformed
		}
		raw = raw[skip:]
	}
	return nil
}

// pack returns the frame of an AaepMessage.
func pack(raw []byte) []byte {
	kind, _ := aaep.Read(raw).Text("type")
	message := appendBytes(make([]byte, 0, len(raw)+len(kind)+2*binary.MaxVarintLen64), fieldJSON, raw)
	if kind != "" && utf8.ValidString(kind) {
		message = appendBytes(message, fieldType, []byte(kind))
	}
	return frame(message)
}

// unpack returns the JSON of an AaepMessage. The last of several fields counts, as in all protocol buffers.
func unpack(message []byte) ([]byte, error) {
	var raw []byte
	err := fields(message, func(field uint64, value []byte) {
		if field == fieldJSON {
			raw = value
		}
	})
	return raw, err
}

func frame(message []byte) []byte {
	head := binary.BigEndian.AppendUint32(make([]byte, 1, headSize+len(message)), uint32(len(message)))
	return append(head, message...)
}

// next reads a frame of at most so many bytes. The error is io.EOF where none begins.
func next(from io.Reader, limit int) ([]byte, error) {
	var head [headSize]byte
	if _, err := io.ReadFull(from, head[:]); err != nil {
		return nil, err //nolint:wrapcheck // the callers tell the end from a break
	}
	size := int64(binary.BigEndian.Uint32(head[1:]))
	switch {
	case head[0] != 0:
		return nil, &transport.Error{Code: transport.ProtocolError, Reason: "found a compressed message, expected one with the encoding identity"}
	case size > int64(limit):
		return nil, tooBig(limit)
	}
	var message bytes.Buffer // it grows with what arrives
	if n, err := io.Copy(&message, io.LimitReader(from, size)); n < size {
		return nil, errors.Join(io.ErrUnexpectedEOF, err)
	}
	return message.Bytes(), nil
}

func tooBig(limit int) error {
	return &transport.Error{Code: transport.TooBig, Reason: fmt.Sprintf("found a message larger than %d bytes, send less", limit)}
}

// receive reads a message. The error is io.EOF where none begins, an [*transport.Error], or that of the connection.
func (o Options) receive(from io.Reader) ([]byte, error) {
	message, err := next(from, o.Limit+envelope)
	if err != nil {
		return nil, err
	}
	raw, err := unpack(message)
	switch {
	case err != nil:
		return nil, &transport.Error{Code: transport.ProtocolError, Reason: "found what is not an AaepMessage: " + err.Error(), Err: err}
	case len(raw) > o.Limit:
		return nil, tooBig(o.Limit)
	case !o.Verbatim && !utf8.Valid(raw):
		return nil, &transport.Error{Code: transport.NotUTF8, Reason: "found a message that is not UTF-8"}
	}
	return raw, nil
}
