// Package stream sends what one subscriber hears, for those who serve: as server-sent events ([Open], or [Detach] with a connection
// of their own), or on a connection that carries whole messages both ways ([Converse]). It keeps a stream alive, ends it with the right to hear it, and knows the order of a
// conversation: the request, its answer, the events, the replies, the close. What is sent, and who may hear and answer, is its caller's.
package stream
