package socket

import (
	"bytes"
	"context"
	"sync"

	"github.com/coder/websocket"
)

// opPong is the opcode of a pong, which the library writes as it writes the kinds of messages.
const opPong websocket.MessageType = 0xa

// pongs answer the pings of the peer, in a goroutine that the connection owns. The library answers them where it reads: while something
// else was being written it would not read on, and would break the connection after 5 s.
type pongs struct {
	owned sync.WaitGroup

	mu      sync.Mutex
	latest  *[]byte // the ping that has no answer yet; those before it need none (RFC 6455, section 5.5.3)
	running bool
	ended   bool
}

// answer answers a ping soon.
func (p *pongs) answer(ws *websocket.Conn, ping []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return
	}
	ping = bytes.Clone(ping)
	p.latest = &ping
	if !p.running {
		p.running = true
		p.owned.Go(func() { p.run(ws) })
	}
}

// run answers until there is nothing to answer.
func (p *pongs) run(ws *websocket.Conn) {
	for ping, is := p.next(); is; ping, is = p.next() {
		ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
		_ = ws.Write(ctx, opPong, ping) // where the connection is broken, who receives learns it
		cancel()
	}
}

func (p *pongs) next() (ping []byte, is bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.latest == nil || p.ended {
		p.running = false
		return nil, false
	}
	ping, p.latest = *p.latest, nil
	return ping, true
}

// end waits for the answer that is being written. The connection is closed.
func (p *pongs) end() {
	p.mu.Lock()
	p.ended = true
	p.mu.Unlock()
	p.owned.Wait()
}
