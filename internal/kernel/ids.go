package kernel

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/earshot-dev/earshot/internal/kernel/store"
)

// id makes a UUIDv7 as 32 hex digits (RFC 9562, section 5.7).
func (k *Kernel) id(now time.Time) (string, error) {
	var b [16]byte
	if _, err := io.ReadFull(k.o.Rand, b[6:]); err != nil {
		return "", store.Unexpected("randomness", err)
	}
	var ms [8]byte
	binary.BigEndian.PutUint64(ms[:], uint64(now.UnixMilli()))
	copy(b[:6], ms[2:])
	b[6] = b[6]&0x0f | 0x70
	b[8] = b[8]&0x3f | 0x80
	return hex.EncodeToString(b[:]), nil
}

// turnID is id for turns, which begin in the order of their ids: each is greater than the one before it, also within a
// millisecond and while the clock is set back. The 12 bits after the version count, as RFC 9562 has it.
func (k *Kernel) turnID(now time.Time) (string, error) {
	made, err := k.id(now)
	if err != nil {
		return "", err
	}
	const head, version = 16, 12 // hex digits of the time and the count; where the version is between them
	k.mu.Lock()
	defer k.mu.Unlock()
	if last := k.lastTurnID; made[:head] <= last {
		n, err := strconv.ParseUint(last[:version]+last[version+1:], 16, 64)
		if err != nil {
			return "", store.Unexpected("the id of a turn", err)
		}
		next := fmt.Sprintf("%015x", n+1)
		made = next[:version] + "7" + next[version:] + made[head:]
	}
	k.lastTurnID = made[:head]
	return made, nil
}

// token makes a reply token of 128 random bits (CONF-05).
func (k *Kernel) token() (string, error) {
	random, err := k.salt()
	if err != nil {
		return "", err
	}
	return "rpl_" + random, nil
}

// salt makes 128 random bits, in hex.
func (k *Kernel) salt() (string, error) { return k.random(16) }

// nonce names an epoch of a turn by 64 random bits, in hex.
func (k *Kernel) nonce() (string, error) { return k.random(8) }

func (k *Kernel) random(bytes int) (string, error) {
	b := make([]byte, bytes)
	if _, err := io.ReadFull(k.o.Rand, b); err != nil {
		return "", store.Unexpected("randomness", err)
	}
	return hex.EncodeToString(b), nil
}
