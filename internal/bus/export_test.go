package bus

import "net"

// ForeignAtOnce is how many commands of external peers are handled at once.
const ForeignAtOnce = externalAtOnce

// The tests attack the server with connections of their own.

// InProcessConn lets a raw connection reach the server without a listener.
func (s *Server) InProcessConn() (net.Conn, error) { return s.host.nats.InProcessConn() }

// ResponderLogin is the kernel's own, to prove that it is fenced in too.
func (s *Server) ResponderLogin() Login { return s.now().responder }

// PublisherLogin is the kernel's own, to prove that it is fenced in too.
func (s *Server) PublisherLogin() Login { return s.now().publisher }

// StreamsLogin may manage streams, where JetStream is on.
func (s *Server) StreamsLogin() Login { return s.now().streams }

// AfterEnd has Close call f once the subscription takes no further message, and before it
// waits for the handler.
func (s *Subscription) AfterEnd(f func()) {
	end := s.end
	s.end = func() { end(); f() }
}

// CutOff ends the server as a crash would, without a word to anybody.
func (s *Server) CutOff() { s.host.nats.Shutdown() }

// CutEverybody ends every connection, as the server does with one that takes nothing.
func (s *Server) CutEverybody() {
	connections, err := s.host.nats.Connz(nil)
	if err != nil {
		panic(err)
	}
	for _, c := range connections.Conns {
		_ = s.host.nats.DisconnectClientByID(c.Cid)
	}
}
