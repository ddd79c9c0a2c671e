#pragma once

#include <string_view>

/// Names of the SQLSTATEs that redquel raises or compares with: PostgreSQL's condition names (manual, appendix A).
namespace redquel::sqlstate {

// Class 00: successful completion
inline constexpr std::string_view kSuccessfulCompletion = "00000";

// Class 01: warning
inline constexpr std::string_view kWarning = "01000";

// Class 08: connection exception
inline constexpr std::string_view kUnableToEstablishConnection = "08001";
inline constexpr std::string_view kConnectionFailure = "08006";
inline constexpr std::string_view kTransactionResolutionUnknown = "08007";
inline constexpr std::string_view kProtocolViolation = "08P01";

// Class 0A: feature not supported
inline constexpr std::string_view kFeatureNotSupported = "0A000";

// Class 0L: invalid grantor
inline constexpr std::string_view kInvalidGrantOperation = "0LP01";

// Class 21: cardinality violation
inline constexpr std::string_view kCardinalityViolation = "21000";

// Class 22: data exception
inline constexpr std::string_view kDataException = "22000";
inline constexpr std::string_view kStringDataRightTruncation = "22001";
inline constexpr std::string_view kNumericValueOutOfRange = "22003";
inline constexpr std::string_view kNullValueNotAllowed = "22004";
inline constexpr std::string_view kInvalidDatetimeFormat = "22007";
inline constexpr std::string_view kDatetimeFieldOverflow = "22008";
inline constexpr std::string_view kInvalidTimeZoneDisplacementValue = "22009";
inline constexpr std::string_view kInvalidUseOfEscapeCharacter = "2200C";
inline constexpr std::string_view kZeroLengthCharacterString = "2200F";
inline constexpr std::string_view kSequenceGeneratorLimitExceeded = "2200H";
inline constexpr std::string_view kSubstringError = "22011";
inline constexpr std::string_view kDivisionByZero = "22012";
inline constexpr std::string_view kInvalidPrecedingOrFollowingSize = "22013";
inline constexpr std::string_view kInvalidArgumentForNtileFunction = "22014";
inline constexpr std::string_view kIntervalFieldOverflow = "22015";
inline constexpr std::string_view kInvalidArgumentForNthValueFunction = "22016";
inline constexpr std::string_view kInvalidRegularExpression = "2201B";
inline constexpr std::string_view kInvalidArgumentForLogarithm = "2201E";
inline constexpr std::string_view kInvalidArgumentForPowerFunction = "2201F";
inline constexpr std::string_view kInvalidArgumentForWidthBucketFunction = "2201G";
inline constexpr std::string_view kInvalidRowCountInLimitClause = "2201W";
inline constexpr std::string_view kInvalidRowCountInResultOffsetClause = "2201X";
inline constexpr std::string_view kCharacterNotInRepertoire = "22021";
inline constexpr std::string_view kInvalidParameterValue = "22023";
inline constexpr std::string_view kInvalidEscapeSequence = "22025";
inline constexpr std::string_view kStringDataLengthMismatch = "22026";
inline constexpr std::string_view kArraySubscriptError = "2202E";
inline constexpr std::string_view kInvalidTablesampleRepeat = "2202G";
inline constexpr std::string_view kInvalidTablesampleArgument = "2202H";
inline constexpr std::string_view kInvalidArgumentForSqlJsonDatetimeFunction = "22031";
inline constexpr std::string_view kInvalidSqlJsonSubscript = "22033";
inline constexpr std::string_view kNonNumericSqlJsonItem = "22036";
inline constexpr std::string_view kSingletonSqlJsonItemRequired = "22038";
inline constexpr std::string_view kSqlJsonArrayNotFound = "22039";
inline constexpr std::string_view kSqlJsonMemberNotFound = "2203A";
inline constexpr std::string_view kSqlJsonNumberNotFound = "2203B";
inline constexpr std::string_view kSqlJsonObjectNotFound = "2203C";
inline constexpr std::string_view kInvalidTextRepresentation = "22P02";
inline constexpr std::string_view kInvalidBinaryRepresentation = "22P03";
inline constexpr std::string_view kBadCopyFileFormat = "22P04";
inline constexpr std::string_view kUntranslatableCharacter = "22P05";
inline constexpr std::string_view kNonstandardUseOfEscapeCharacter = "22P06";

// Class 23: integrity constraint violation
inline constexpr std::string_view kNotNullViolation = "23502";
inline constexpr std::string_view kForeignKeyViolation = "23503";
inline constexpr std::string_view kUniqueViolation = "23505";
inline constexpr std::string_view kCheckViolation = "23514";
inline constexpr std::string_view kExclusionViolation = "23P01";

// Class 24: invalid cursor state
inline constexpr std::string_view kInvalidCursorState = "24000";

// Class 25: invalid transaction state
inline constexpr std::string_view kActiveTransaction = "25001";
inline constexpr std::string_view kReadOnlyTransaction = "25006";
inline constexpr std::string_view kNoActiveTransaction = "25P01";
inline constexpr std::string_view kFailedTransaction = "25P02";
inline constexpr std::string_view kIdleInTransactionSessionTimeout = "25P03";

// Class 26: invalid statement name
inline constexpr std::string_view kUndefinedPreparedStatement = "26000";

// Class 28: invalid authorization specification
inline constexpr std::string_view kInvalidAuthorizationSpecification = "28000";
inline constexpr std::string_view kInvalidPassword = "28P01";

// Class 2B: dependent privilege descriptors still exist
inline constexpr std::string_view kDependentObjectsStillExist = "2BP01";

// Class 2F: SQL routine exception
inline constexpr std::string_view kRoutineProhibitedSqlStatement = "2F003";

// Class 34: invalid cursor name
inline constexpr std::string_view kUndefinedCursor = "34000";

// Class 3B: savepoint exception
inline constexpr std::string_view kInvalidSavepoint = "3B001";

// Class 3D: invalid catalog name
inline constexpr std::string_view kUndefinedDatabase = "3D000";

// Class 3F: invalid schema name
inline constexpr std::string_view kUndefinedSchema = "3F000";

// Class 39: external routine invocation exception
inline constexpr std::string_view kExternalRoutineInvocation = "39000";

// Class 40: transaction rollback
inline constexpr std::string_view kSerializationFailure = "40001";
inline constexpr std::string_view kDeadlockDetected = "40P01";

// Class 42: syntax error or access rule violation
inline constexpr std::string_view kInsufficientPrivilege = "42501";
inline constexpr std::string_view kSyntaxError = "42601";
inline constexpr std::string_view kInvalidName = "42602";
inline constexpr std::string_view kInvalidColumnDefinition = "42611";
inline constexpr std::string_view kNameTooLong = "42622";
inline constexpr std::string_view kDuplicateColumn = "42701";
inline constexpr std::string_view kAmbiguousColumn = "42702";
inline constexpr std::string_view kUndefinedColumn = "42703";
inline constexpr std::string_view kUndefinedObject = "42704";
inline constexpr std::string_view kDuplicateObject = "42710";
inline constexpr std::string_view kDuplicateAlias = "42712";
inline constexpr std::string_view kDuplicateFunction = "42723";
inline constexpr std::string_view kAmbiguousFunction = "42725";
inline constexpr std::string_view kGroupingError = "42803";
inline constexpr std::string_view kDatatypeMismatch = "42804";
inline constexpr std::string_view kWrongObjectType = "42809";
inline constexpr std::string_view kInvalidForeignKey = "42830";
inline constexpr std::string_view kCannotCoerce = "42846";
inline constexpr std::string_view kUndefinedFunction = "42883";
inline constexpr std::string_view kGeneratedAlways = "428C9";
inline constexpr std::string_view kReservedName = "42939";
inline constexpr std::string_view kUndefinedTable = "42P01";
inline constexpr std::string_view kUndefinedParameter = "42P02";
inline constexpr std::string_view kDuplicateCursor = "42P03";
inline constexpr std::string_view kDuplicateDatabase = "42P04";
inline constexpr std::string_view kDuplicatePreparedStatement = "42P05";
inline constexpr std::string_view kDuplicateSchema = "42P06";
inline constexpr std::string_view kDuplicateTable = "42P07";
inline constexpr std::string_view kAmbiguousParameter = "42P08";
inline constexpr std::string_view kAmbiguousAlias = "42P09";
inline constexpr std::string_view kInvalidColumnReference = "42P10";
inline constexpr std::string_view kInvalidCursorDefinition = "42P11";
inline constexpr std::string_view kInvalidFunctionDefinition = "42P13";
inline constexpr std::string_view kInvalidSchemaDefinition = "42P15";
inline constexpr std::string_view kInvalidTableDefinition = "42P16";
inline constexpr std::string_view kInvalidObjectDefinition = "42P17";
inline constexpr std::string_view kIndeterminateDatatype = "42P18";
inline constexpr std::string_view kInvalidRecursion = "42P19";
inline constexpr std::string_view kWindowingError = "42P20";
inline constexpr std::string_view kCollationMismatch = "42P21";
inline constexpr std::string_view kIndeterminateCollation = "42P22";

// Class 44: check option of a view
inline constexpr std::string_view kWithCheckOptionViolation = "44000";

// Class 53: insufficient resources
inline constexpr std::string_view kDiskFull = "53100";
inline constexpr std::string_view kOutOfMemory = "53200";
inline constexpr std::string_view kTooManyConnections = "53300";
inline constexpr std::string_view kConfigurationLimitExceeded = "53400";

// Class 54: program limit exceeded
inline constexpr std::string_view kProgramLimitExceeded = "54000";
inline constexpr std::string_view kStatementTooComplex = "54001";
inline constexpr std::string_view kTooManyColumns = "54011";
inline constexpr std::string_view kTooManyArguments = "54023";

// Class 55: object not in prerequisite state
inline constexpr std::string_view kObjectNotInPrerequisiteState = "55000";
inline constexpr std::string_view kObjectInUse = "55006";
inline constexpr std::string_view kCantChangeRuntimeParam = "55P02";
inline constexpr std::string_view kLockNotAvailable = "55P03";

// Class 57: operator intervention
inline constexpr std::string_view kQueryCanceled = "57014";
inline constexpr std::string_view kAdminShutdown = "57P01";
inline constexpr std::string_view kCannotConnectNow = "57P03";
inline constexpr std::string_view kIdleSessionTimeout = "57P05";

// Class 58: system error
inline constexpr std::string_view kIoError = "58030";
inline constexpr std::string_view kUndefinedFile = "58P01";

// Class HV: foreign data wrapper error
inline constexpr std::string_view kFdwInvalidOptionName = "HV00D";
inline constexpr std::string_view kFdwOptionNameNotFound = "HV00J";
inline constexpr std::string_view kFdwInvalidAttributeValue = "HV024";

// Class XX: internal error
inline constexpr std::string_view kInternalError = "XX000";
inline constexpr std::string_view kDataCorrupted = "XX001";

}  // namespace redquel::sqlstate
