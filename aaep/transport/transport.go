// Package transport is what the transports of AAEP have in common: a connection that carries whole messages both ways ([Conn]), and the
// codes with which one ends. Package [github.com/earshot-dev/earshot/aaep/transport/socket] makes one of a WebSocket, package
// [github.com/earshot-dev/earshot/aaep/transport/pipe] of a local socket or a program's standard streams. What the messages mean is not
// known here.
//
// Server-sent events are not a Conn: each direction has its own requests.
package transport

import (
	"errors"
	"fmt"

	"github.com/earshot-dev/earshot/aaep"
)

// Conn is one connection. One goroutine receives; everything else may be called concurrently. Its owner calls Close or Drop.
type Conn interface {
	// Receive returns the next message, which is UTF-8 and no larger than the limit. An error is the last: an [*Error] for a close of
	// the peer and for a message that is refused, otherwise [ErrBroken] with the reason.
	Receive() ([]byte, error)
	// Send sends messages, each as one. After an error the connection is broken.
	Send(group ...[]byte) error
	// Ping shows that the peer is there, where the transport can; it may wait for an answer, which the goroutine that receives takes.
	Ping() error
	// Close tells the peer why, as the transport can say it, and ends the connection within a second or so.
	Close(code Code, reason string)
	// Drop ends the connection at once, also while Close waits.
	Drop()
}

// MessageLimit is the largest message that a server takes from a subscriber, in bytes, in every transport (TR-12).
const MessageLimit = 64 << 10

// ErrBroken is in every error of a connection that has broken, or that this side has closed: there is nobody to tell.
var ErrBroken = errors.New("the connection is broken")

// Code is a close code. The numbers are those of a WebSocket (TR-WS-07); where a transport has none, words stand for them.
type Code int

// The close codes of the protocol, and those of WebSocket that are used here (RFC 6455, section 7.4.1).
const (
	Clean             Code = 4000 // the producer has ended the subscription
	Rejected          Code = 4001 // right after subscription.rejected
	NotAuthenticated  Code = 4002
	NotAllowed        Code = 4003
	Violation         Code = 4004 // the producer ends it, for what the subscriber has sent
	EndedBySubscriber Code = 4005

	Normal          Code = 1000
	GoingAway       Code = 1001
	ProtocolError   Code = 1002
	NotText         Code = 1003
	NotUTF8         Code = 1007
	PolicyViolation Code = 1008
	TooBig          Code = 1009
	InternalError   Code = 1011
	TryAgainLater   Code = 1013
)

// words are the reason codes of subscription.close that stand for close codes.
var words = map[Code]string{
	Clean: "producer_shutdown", Rejected: "rejected", NotAuthenticated: "not_authenticated", NotAllowed: "not_allowed", Violation: "violation",
	EndedBySubscriber: "subscriber_shutdown", Normal: "normal", GoingAway: "going_away", ProtocolError: "protocol_error", NotText: "not_text",
	NotUTF8: "not_utf8", PolicyViolation: "policy_violation", TooBig: "too_big", InternalError: "internal_error", TryAgainLater: "try_again_later",
}

// Error is why a message was not received: a close code with its reason.
type Error struct {
	Code   Code
	Reason string
	// FromPeer says that the peer has closed the connection so. Otherwise the caller is to close it with this code.
	FromPeer bool
	// Message is the subscription.close that has said so, as it came, where the transport has no close codes of its own.
	Message []byte
	Err     error
}

func (e *Error) Error() string {
	if e.FromPeer {
		return fmt.Sprintf("the other side has closed the connection with the code %d %s", e.Code, e.Reason)
	}
	return fmt.Sprintf("%s (code %d)", e.Reason, e.Code)
}

// Unwrap returns the cause, if there is one.
func (e *Error) Unwrap() error { return e.Err }

// Closing returns the message that ends a subscription, for a transport without close codes.
func Closing(subscription string, code Code, reason string) ([]byte, error) {
	return aaep.SubscriptionClose{SubscriptionID: subscription, ReasonCode: words[code], ReasonMessage: reason}.Encode()
}

// Closed returns what a message of the peer that ends the subscription means, and whether it is one. A word that is unknown is that of
// a producer of somebody else, which has ended the subscription.
func Closed(raw []byte) (*Error, bool) {
	kind, _ := aaep.Read(raw).Text("type")
	if kind != aaep.TypeSubscriptionClose {
		return nil, false
	}
	m, _ := aaep.DecodeSubscriptionClose(raw) // one that is wrong is meant all the same
	end := &Error{Code: Clean, Reason: m.ReasonMessage, FromPeer: true, Message: raw}
	for code, word := range words {
		if word == m.ReasonCode {
			end.Code = code
		}
	}
	return end, true
}
