// naga's Metal texts include this header and use nothing of it.
