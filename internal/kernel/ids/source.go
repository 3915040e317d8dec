// Package ids makes the names that the kernel gives: of turns, calls, cards and questions, from one source of randomness.
package ids

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"
)

// Source makes names. Make it with [New]. Its methods may be called concurrently, if its reader may. Their errors say that there was
// no randomness.
type Source struct {
	rand io.Reader

	mu   sync.Mutex
	last string // the beginning of the latest turn's id, by which the next is greater
}

// New returns a source that reads its randomness from a reader.
func New(rand io.Reader) *Source { return &Source{rand: rand} }

// ID makes a UUIDv7 as 32 hex digits (RFC 9562, section 5.7).
func (s *Source) ID(now time.Time) (string, error) {
	var b [16]byte
	if _, err := io.ReadFull(s.rand, b[6:]); err != nil {
		return "", fmt.Errorf("kernel: randomness: %w", err)
	}
	var ms [8]byte
	binary.BigEndian.PutUint64(ms[:], uint64(now.UnixMilli()))
	copy(b[:6], ms[2:])
	b[6] = b[6]&0x0f | 0x70
	b[8] = b[8]&0x3f | 0x80
	return hex.EncodeToString(b[:]), nil
}

// Turn makes an id for a turn. Turns begin in the order of their ids: each is greater than the one before it, also within a
// millisecond and while the clock is set back. The 12 bits after the version count, as RFC 9562 has it.
func (s *Source) Turn(now time.Time) (string, error) {
	made, err := s.ID(now)
	if err != nil {
		return "", err
	}
	const head, version = 16, 12 // hex digits of the time and the count; where the version is between them
	s.mu.Lock()
	defer s.mu.Unlock()
	if last := s.last; made[:head] <= last {
		n, err := strconv.ParseUint(last[:version]+last[version+1:], 16, 64)
		if err != nil {
			return "", fmt.Errorf("kernel: the id of a turn: %w", err)
		}
		next := fmt.Sprintf("%015x", n+1)
		made = next[:version] + "7" + next[version:] + made[head:]
	}
	s.last = made[:head]
	return made, nil
}

// Token makes a reply token of 128 random bits (CONF-05).
func (s *Source) Token() (string, error) {
	random, err := s.Salt()
	if err != nil {
		return "", err
	}
	return "rpl_" + random, nil
}

// Salt makes 128 random bits, in hex.
func (s *Source) Salt() (string, error) { return s.random(16) }

// Nonce names an epoch of a turn by 64 random bits, in hex.
func (s *Source) Nonce() (string, error) { return s.random(8) }

func (s *Source) random(bytes int) (string, error) {
	b := make([]byte, bytes)
	if _, err := io.ReadFull(s.rand, b); err != nil {
		return "", fmt.Errorf("kernel: randomness: %w", err)
	}
	return hex.EncodeToString(b), nil
}
