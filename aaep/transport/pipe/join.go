package pipe

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/earshot-dev/earshot/aaep/transport"
)

// Join passes messages between a subscriber's connection and the producer's, both ways, until one of both ends or the context does. The
// other is then closed with the same code. It returns why the producer's has ended; nil if the subscriber has left. A subscriber's stream
// whose read no close can end, such as standard input, is read on until the program ends. Where the input of an [RPC] ends, each request
// that it has sent is answered first.
func Join(ctx context.Context, subscriber, producer transport.Conn) error {
	left, over := make(chan error, 1), make(chan error, 1)
	go func() { left <- pass(subscriber, producer) }()
	var owned sync.WaitGroup
	silent := make(chan struct{}) // closed when the producer answers nothing any more
	owned.Go(func() {
		defer close(silent)
		over <- pass(producer, subscriber)
	})
	defer owned.Wait()
	select {
	case err := <-left:
		if r, is := subscriber.(*RPC); is && errors.Is(err, io.EOF) {
			select {
			case <-r.answered():
			case <-silent:
			case <-ctx.Done():
			case <-time.After(answerTimeout):
			}
		}
		end(producer, err, transport.EndedBySubscriber)
		end(subscriber, err, transport.Clean)
		return nil
	case err := <-over:
		end(subscriber, err, transport.GoingAway)
		producer.Drop()
		return err
	case <-ctx.Done():
		producer.Close(transport.EndedBySubscriber, "as you asked")
		subscriber.Close(transport.Clean, "as you asked")
		return nil
	}
}

// pass passes messages on until there are no more.
func pass(from, to transport.Conn) error {
	for {
		raw, err := from.Receive()
		if err != nil {
			return err
		}
		if err := to.Send(raw); err != nil {
			return err
		}
	}
}

// end closes a connection with the code of what has ended the other one.
func end(c transport.Conn, why error, otherwise transport.Code) {
	if e, is := errors.AsType[*transport.Error](why); is {
		c.Close(e.Code, e.Reason)
		return
	}
	c.Close(otherwise, "the other side has gone")
}
