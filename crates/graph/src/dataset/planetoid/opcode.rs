//! The operations of pickle protocols 0 to 2: their bytes, and the names that messages use.

macro_rules! opcodes {
    ($($name:ident = $byte:literal),* $(,)?) => {
        $(pub(super) const $name: u8 = $byte;)*

        /// Name of an operation, if the byte is one that is read.
        pub(super) fn name(byte: u8) -> Option<&'static str> {
            match byte {
                $($name => Some(stringify!($name)),)*
                _ => None,
            }
        }
    };
}

opcodes! {
    MARK = b'(', STOP = b'.', POP = b'0', POP_MARK = b'1', DUP = b'2', PROTO = 0x80,
    NONE = b'N', NEWTRUE = 0x88, NEWFALSE = 0x89,
    INT = b'I', BININT = b'J', BININT1 = b'K', BININT2 = b'M', LONG = b'L', LONG1 = 0x8a, LONG4 = 0x8b,
    FLOAT = b'F', BINFLOAT = b'G',
    STRING = b'S', BINSTRING = b'T', SHORT_BINSTRING = b'U', UNICODE = b'V', BINUNICODE = b'X',
    EMPTY_TUPLE = b')', TUPLE = b't', TUPLE1 = 0x85, TUPLE2 = 0x86, TUPLE3 = 0x87,
    EMPTY_LIST = b']', LIST = b'l', APPEND = b'a', APPENDS = b'e',
    EMPTY_DICT = b'}', DICT = b'd', SETITEM = b's', SETITEMS = b'u',
    GET = b'g', BINGET = b'h', LONG_BINGET = b'j', PUT = b'p', BINPUT = b'q', LONG_BINPUT = b'r',
    GLOBAL = b'c', REDUCE = b'R', BUILD = b'b', NEWOBJ = 0x81,
}

/// Operations that pickles have and data sets do not need, for messages.
pub(super) fn refused(byte: u8) -> Option<&'static str> {
    match byte {
        b'P' => Some("PERSID"),
        b'Q' => Some("BINPERSID"),
        b'i' => Some("INST"),
        b'o' => Some("OBJ"),
        0x82 => Some("EXT1"),
        0x83 => Some("EXT2"),
        0x84 => Some("EXT4"),
        b'B' | b'C' | 0x8c..=0x98 => Some("an operation of protocol 3 or later"),
        _ => None,
    }
}
